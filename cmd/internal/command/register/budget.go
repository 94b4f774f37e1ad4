package register

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// budget are the flags that limit what COMMAND may spend in one start (spec §27.2).
type budget struct {
	Budget       []cli.Amount        `placeholder:"NAME=N"`
	NoBudget     bool                `help:"remove all limits of --budget"`
	BudgetAction policy.BudgetAction `default:"" enum:"terminal,restart,"`
}

// copy copies the given limits to s. They replace all that there were.
func (c *budget) copy(s *group.StartInfo) {
	if c.NoBudget {
		s.Budget.Limits = nil
	}
	if c.Budget != nil {
		s.Budget.Limits = cli.Amounts(c.Budget)
	}
	if c.BudgetAction != "" {
		s.Budget.Action = c.BudgetAction
	}
}

// check returns an error for flags that do not go together.
func (c *budget) check() error {
	if c.NoBudget && c.Budget != nil {
		return cli.Usagef("--budget does not go with --no-budget")
	}
	names := make(map[string]bool)
	for _, limit := range c.Budget {
		if names[limit.Name] {
			return cli.Usagef("--budget: %s has two limits: give one", limit.Name)
		}
		names[limit.Name] = true
	}
	return nil
}
