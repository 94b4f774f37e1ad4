package restart

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// steady is how long a service that does not report its readiness must have been ready. A service
// that ends right after its start has not been restarted.
const steady = time.Second

// A sighting is a process of a service and the time since when it was seen ready.
type sighting struct {
	pid   int
	since time.Time
}

// await makes passes until all restarted services are ready and have been so for long enough.
func (c *restart) await(
	env *cli.Env, l *fileops.Ledger, o *orchestrator.Orchestrator, again []string,
) (group.Group, error) {
	sightings := make(map[string]sighting)
	return o.Until(time.Duration(c.Timeout),
		func(g group.Group) (waiting string, err error) {
			seen := l.ObserveGroup(g, env.Observer()())
			for _, id := range again {
				if err := impossible(id, g.Service(id)); err != nil {
					return "", err
				}
				if state := notReady(g, id, seen, sightings); state != "" {
					waiting = fmt.Sprintf("%q %s", id, state)
				}
			}
			return waiting, nil
		})
}

// impossible returns an error if s, called id, will not be ready. A service that dies is final; a
// failed attempt to start it is not, because others follow.
func impossible(id string, s *group.Service) error {
	because := ""
	switch {
	case s == nil:
		because = "was removed"
	case s.State == group.StateDead && s.LastExit != nil:
		because = fmt.Sprintf("is dead: %s", s.LastExit)
	case s.State == group.StateDead, s.State == group.StateStopped,
		s.State == group.StateShuttingDown && !s.StartAgain:
		because = fmt.Sprintf("is %s", s.State)
	case s.BlockedBy != "" && s.AwaitedMaintenance() == "": // a maintenance ends
		because = "is blocked by " + s.BlockedBy
	default:
		return nil
	}

	return fmt.Errorf("%w: %q %s", cli.ErrImpossible, id, because)
}

// notReady returns why the service is not ready, or has not been for long enough, or "".
func notReady(
	g group.Group, id string, seen observe.Observation, sightings map[string]sighting,
) string {
	s := g.Service(id)
	if !g.Ready(id, seen) {
		delete(sightings, id)
		if on := g.Service(s.AwaitedMaintenance()); on != nil && on.Maintenance != nil {
			return fmt.Sprintf("waits for %q, in maintenance until %s", on.ID,
				wire.FormatTime(on.Maintenance.Until))
		}
		if s.State == group.StateRunning {
			return "is running, and not ready"
		}
		return fmt.Sprintf("is %s", s.State)
	}

	unseen := sightings[id].pid != s.PID
	if unseen {
		sightings[id] = sighting{s.PID, time.Now()}
	}
	if unseen || s.StartInfo.Readiness == observe.ReadinessReady &&
		time.Since(sightings[id].since) < steady {
		return "has just been started"
	}
	return ""
}
