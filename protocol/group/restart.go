package group

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Restart returns g after the request to stop a service and the running ones that depend on it, and
// to start them again (groups.md §10.5). With only, its dependents are left alone. A service that
// is not running is started by the next pass, whether it waits for its backoff or was stopped.
//
// Restart stops nothing that no pass could start again. It leaves alone dependents without a
// command. First it takes in what exit says of ends that no pass has seen, so it does not restart
// dependents that have ended. It returns ErrNoService, ErrNoStartInfo if the service itself has no
// command, and ErrBlocked, with names, if a service that would have to stop depends on another that
// is missing, dead or stopped and is not restarted with it. again has the ids of the restarted
// services, in order. It returns ErrInMaintenance, with names, if such a service depends on another
// that is in a maintenance, and so would stay stopped until that ends.
func (g Group) Restart(service, by string, only bool, exit ExitLookup,
	seen observe.Observation) (after Group, again []string, err error) {
	if err := g.Registry.checkRuns(); err != nil {
		return g, nil, err
	}

	switch s := g.Service(service); {
	case s == nil:
		return g, nil, ErrNoService
	case s.StartInfo == nil:
		return g, nil, ErrNoStartInfo
	}

	d := g.Begin("restart", by, seen)
	family := []string{service}
	if !only {
		family = append(family, g.Registry.dependents(service)...)
	}
	d.takeEnds(exit, family)
	return d.restart(slices.DeleteFunc(d.Group.Registry.Ordered(), func(id string) bool {
		s := d.Group.Service(id)
		follows := slices.Contains(family, id) && s.State == StateRunning && s.StartInfo != nil &&
			!d.mayComplete(s)
		return id != service && !follows
	}))
}

// RestartAll returns g after the request to restart all services that have a command (§10.5),
// including dead and stopped ones, and with completed also those that have completed. It takes in
// ends as Restart does, and returns ErrBlocked and ErrInMaintenance.
func (g Group) RestartAll(by string, completed bool, exit ExitLookup, seen observe.Observation) (
	after Group, again []string, err error,
) {
	d := g.Begin("restart", by, seen)
	d.takeEnds(exit, nil)
	return d.restart(slices.DeleteFunc(d.Group.Registry.Ordered(), func(id string) bool {
		s := d.Group.Service(id)
		return s.StartInfo == nil || !completed && d.mayComplete(s)
	}))
}

func (d *Draft) restart(again []string) (Group, []string, error) {
	if v := &d.Group.Registry.Supervision; v.End.State != GroupRunning {
		v.revive()
	}
	for _, id := range again {
		s := d.Service(id)
		s.Maintenance = s.Maintenance.With(s.Maintenance.On(d.Seen.Now)) // this start is asked for
		if !d.mayRun(s) {
			d.bringBack(s)
			continue
		}

		// Nothing is stopped that no pass could start again.

		if on := d.Before.maintained(s, again, d.Seen.Now); on != nil {
			return d.Before, nil, fmt.Errorf("%w: %q depends on %q, in maintenance until %s",
				ErrInMaintenance, id, on.ID, wire.FormatTime(on.Maintenance.Until))
		}
		if on, state := d.Before.blocker(s, again); on != "" {
			return d.Before, nil, fmt.Errorf("%w: %q depends on %q, which is %s", ErrBlocked, id, on,
				state)
		}

		d.AskToStop(s, "restart", "")
		s.StartAgain, s.RemoveAfterStop, s.StoppedBy = true, false, ""
	}

	after, err := d.end()
	if err != nil {
		return d.Before, nil, err
	}

	return after, again, nil
}

// bringBack lets the next pass start s, which is not running.
func (d *Draft) bringBack(s *Service) {
	switch evidence := d.Group.EvidenceOf(s, d.Seen); s.State {
	case StateRegistered, StateWaiting:
		return
	case StateRunning:
		d.ReleaseTo(s, StateRegistered, "restart", string(cmp.Or(evidence, observe.Exited)))
	case StateShuttingDown:
		d.ReleaseTo(s, StateRegistered, "restart", "stopped")
	default:
		d.SetState(s, StateRegistered, "restart")
		s.forgetEnd()
	}

	s.StoppedBy = ""
	s.ForgetLimits()
}

// maintained returns the first dependency because of whose maintenance no pass will start s again
// before that ends, or nil. One that has completed, and is not restarted as well, is none.
func (g Group) maintained(s *Service, again []string, now time.Time) *Service {
	for _, d := range s.AllDependencies() {
		on := g.Service(d)
		if on != nil && on.Maintenance.On(now) &&
			(on.State != StateCompleted || slices.Contains(again, d)) {
			return on
		}
	}
	return nil
}

// blocker returns the first dependency without which no pass will start s again, and its state,
// ignoring those that are restarted as well.
func (g Group) blocker(s *Service, again []string) (id, state string) {
	for _, d := range s.AllDependencies() {
		on := g.Service(d)
		switch {
		case slices.Contains(again, d):
		case on == nil:
			return d, "missing"
		case NeverReady(on.State) || on.State == StateShuttingDown && !on.StartAgain:
			return d, string(on.State)
		}
	}

	return "", ""
}
