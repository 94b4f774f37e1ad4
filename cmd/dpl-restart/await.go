package main

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// steady is how long a service that does not report its readiness must have been ready. A service
// that ends right after its start has not been restarted.
const steady = time.Second

// A sighting is a process of a service and the time since when it was seen ready.
type sighting struct {
	pid   int
	since time.Time
}

// await makes passes until all restarted services are ready and have been so for long enough. A
// service that dies is final; a failed attempt to start it is not, because others follow.
func (c *restart) await(env *cli.Env, l *fileops.Ledger, groupID string,
	again []string) (group.Group, error) {
	o := &orchestrator.Orchestrator{Env: env, Ledger: l, Group: groupID,
		Owner: session.DefaultOwner()}
	waiting, sightings := "", make(map[string]sighting)

	ready := func(g group.Group) (bool, error) {
		seen := l.ObserveGroup(g, env.Observer()())
		waiting = ""
		for _, id := range again {
			switch s := g.Service(id); {
			case s == nil:
				return false, fmt.Errorf("%w: %q was removed", cli.ErrImpossible, id)
			case s.State == group.StateDead && s.LastExit != nil:
				return false, fmt.Errorf("%w: %q is dead: %s", cli.ErrImpossible, id, s.LastExit)
			case s.State == group.StateDead, s.State == group.StateStopped,
				s.State == group.StateShuttingDown && !s.StartAgain:
				return false, fmt.Errorf("%w: %q is %s", cli.ErrImpossible, id, s.State)
			case s.BlockedBy != "":
				return false, fmt.Errorf("%w: %q is blocked by %s", cli.ErrImpossible, id,
					s.BlockedBy)
			case !g.Ready(id, seen):
				delete(sightings, id)
				waiting = fmt.Sprintf("%q is %s", id, s.State)
				if s.State == group.StateRunning {
					waiting += ", and not ready"
				}
			case sightings[id].pid != s.PID:
				sightings[id] = sighting{s.PID, time.Now()}
				fallthrough
			case s.StartInfo.Readiness == observe.ReadinessReady &&
				time.Since(sightings[id].since) < steady:
				waiting = fmt.Sprintf("%q has just been started", id)
			}
		}

		return waiting == "", nil
	}

	late := func() error {
		return fmt.Errorf("%w: after %v %s", cli.ErrTimeout, time.Duration(c.Timeout), waiting)
	}

	return o.Until(time.Duration(c.Timeout), ready, late)
}
