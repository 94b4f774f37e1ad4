package shutdown

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// await makes passes until the service and its dependents, or all services, have stopped. It does
// not depend on the passes of other processes.
func (c *shutdown) await(o *orchestrator.Orchestrator, service string) (group.Group, error) {
	return o.Until(time.Duration(c.Timeout),
		func(g group.Group) (string, error) {
			for _, s := range g.Registry.Services {
				asked := s.State == group.StateShuttingDown && !s.StartAgain ||
					s.State == group.StateStopped || s.State == group.StateCompleted ||
					s.DidItsWork()
				if (c.All || s.ID == service) && !asked {
					return "", fmt.Errorf("%w: %q is %s again", cli.ErrImpossible, s.ID, s.State)
				}
			}

			return stopping(g, service), nil
		})
}

// stopping returns which service of g still stops, of service and its dependents or of all, or "".
func stopping(g group.Group, service string) string {
	switch left := g.ShuttingDown(service); {
	case len(left) == 0:
		return ""
	case g.Service(left[0]).DidItsWork():
		return fmt.Sprintf("%q has done its work, and processes of it are left", left[0])
	default:
		return fmt.Sprintf("%q is still %s", left[0], group.StateShuttingDown)
	}
}

// outlived returns an error if a service that is stopped in g has a process that lives, or may live
// where this command cannot look.
func (c *shutdown) outlived(g group.Group, seen observe.Observation) error {
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if !c.All && s.ID != string(c.Service) {
			continue
		}
		if pid := g.Outlives(s, seen); pid != 0 {
			return fmt.Errorf("%w: %q is stopped, and process %d of it lives, which no pass stops: "+
				"kill %[3]d", cli.ErrImpossible, s.ID, pid)
		}
		if s.Hidden(seen) {
			return fmt.Errorf("%w: %q is stopped, and its process %d may live in another pid namespace: "+
				"there, dpl-doctor tells", cli.ErrImpossible, s.ID, s.PID)
		}
	}
	return nil
}
