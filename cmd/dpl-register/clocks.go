package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// clocks are the flags that limit how long COMMAND may run (spec §26).
type clocks struct {
	Timeout *cli.Pause `placeholder:"D" help:"stop it once it has run for D, and restart it as after a failure; 0 means never (0)"`
}

// copy copies the given clocks to s.
func (c *clocks) copy(s *group.StartInfo) {
	if c.Timeout != nil {
		s.RuntimeMax = time.Duration(*c.Timeout)
	}
}
