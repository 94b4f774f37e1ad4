package register

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// preflight are the flags for what is asked before COMMAND begins (spec §25).
type preflight struct {
	Preflight        cli.Word   `placeholder:"CMD"`
	NoPreflight      bool       `help:"ask nothing before COMMAND begins"`
	PreflightTimeout *cli.Pause `placeholder:"D" help:"how long --preflight may take (10s)"`
}

// check returns an error for flags that do not go together.
func (c *preflight) check() error {
	if c.NoPreflight && c.Preflight != "" {
		return cli.Usagef("--preflight does not go with --no-preflight: choose one")
	}
	if c.PreflightTimeout != nil && *c.PreflightTimeout <= 0 {
		return cli.Usagef("--preflight-timeout: want more than 0")
	}
	return nil
}

// copy copies the given flags to s.
func (c *preflight) copy(s *group.StartInfo) {
	if c.Preflight != "" {
		s.Preflight = []string{"sh", "-c", string(c.Preflight)}
	}
	if c.NoPreflight {
		s.Preflight = nil
	}
	if c.PreflightTimeout != nil {
		s.PreflightTimeout = time.Duration(*c.PreflightTimeout)
	}
}
