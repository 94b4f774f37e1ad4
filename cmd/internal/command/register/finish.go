package register

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// finish are the flags for what is run after COMMAND has ended (spec §25.2).
type finish struct {
	Finish        cli.Word   `placeholder:"CMD"`
	NoFinish      bool       `help:"run nothing after COMMAND"`
	FinishTimeout *cli.Pause `placeholder:"D"`
}

// check returns an error for flags that do not go together.
func (c *finish) check() error {
	if c.NoFinish && c.Finish != "" {
		return cli.Usagef("--finish does not go with --no-finish: choose one")
	}
	if c.FinishTimeout != nil && *c.FinishTimeout <= 0 {
		return cli.Usagef("--finish-timeout: want more than 0")
	}
	return nil
}

// copy copies the given flags to s.
func (c *finish) copy(s *group.StartInfo) {
	if c.Finish != "" {
		s.Finish = []string{"sh", "-c", string(c.Finish)}
	}
	if c.NoFinish {
		s.Finish = nil
	}
	if c.FinishTimeout != nil {
		s.FinishTimeout = time.Duration(*c.FinishTimeout)
	}
}
