package main

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// await makes passes until the supervisor, and what depends on it, has stopped: so it does not take until the next one of
// somebody else.
func (c *shutdown) await(env *cli.Env, l *fileops.Ledger, group, supervisor string) (protocol.Group, error) {
	const pause = 100 * time.Millisecond
	o := &orchestrator.Orchestrator{Env: env, Ledger: l, Group: group, Owner: cli.DefaultOwner()}
	for end := time.Now().Add(c.timeout); ; time.Sleep(pause) {
		g, err := l.ReadGroup(group)
		if err != nil {
			return g, err
		}
		s, left := g.Supervisor(supervisor), g.ShuttingDown(supervisor)
		switch {
		case s != nil && s.State != protocol.StateShuttingDown && s.State != protocol.StateStopped:
			return g, fmt.Errorf("%w: it is %s again", cli.ErrFalse, s.State)
		case len(left) == 0:
			return g, nil
		case time.Now().After(end):
			return g, fmt.Errorf("%w: after %v %q is still %s", cli.ErrTimeout, c.timeout, left[0], protocol.StateShuttingDown)
		}
		if _, err := o.Pass(); err != nil && !cli.Transient(err) {
			return g, err
		}
	}
}
