package main

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// await makes passes until the service and its dependents, or all services, have stopped. It does
// not depend on the passes of other processes.
func (c *shutdown) await(env *cli.Env, l *fileops.Ledger, groupID,
	service string) (group.Group, error) {
	o := &orchestrator.Orchestrator{Env: env, Ledger: l, Group: groupID,
		Owner: session.DefaultOwner()}
	var left []string

	stopped := func(g group.Group) (bool, error) {
		for i := range g.Registry.Services {
			s := &g.Registry.Services[i]
			asked := s.State == group.StateShuttingDown && !s.StartAgain ||
				s.State == group.StateStopped
			if (c.All || s.ID == service) && !asked {
				return false, fmt.Errorf("%w: %q is %s again", cli.ErrImpossible, s.ID, s.State)
			}
		}

		left = g.ShuttingDown(service)
		return len(left) == 0, nil
	}

	late := func() error {
		return fmt.Errorf("%w: after %v %q is still %s", cli.ErrTimeout, time.Duration(c.Timeout),
			left[0], group.StateShuttingDown)
	}

	return o.Until(time.Duration(c.Timeout), stopped, late)
}
