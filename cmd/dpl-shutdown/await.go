package main

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// await makes passes until the supervisor has stopped: so it does not take until the next one of somebody else.
func (c *shutdown) await(env *cli.Env, l *fileops.Ledger, group, supervisor string) (protocol.Group, error) {
	const pause = 100 * time.Millisecond
	o := &orchestrator.Orchestrator{Env: env, Ledger: l, Group: group, Owner: cli.DefaultOwner()}
	for end := time.Now().Add(c.timeout); ; time.Sleep(pause) {
		g, err := l.ReadGroup(group)
		if err != nil {
			return g, err
		}
		switch s := g.Supervisor(supervisor); {
		case s == nil || s.State == protocol.StateStopped:
			return g, nil
		case s.State != protocol.StateShuttingDown:
			return g, fmt.Errorf("%w: it is %s again", cli.ErrFalse, s.State)
		case time.Now().After(end):
			return g, fmt.Errorf("%w: after %v it is still %s", cli.ErrTimeout, c.timeout, s.State)
		}
		if _, err := o.Pass(); err != nil && !cli.Transient(err) {
			return g, err
		}
	}
}
