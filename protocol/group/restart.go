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
// to start them again (spec §10.5). With only, its dependents are left alone. A service that is not
// running is started by the next pass, whether it waits for its backoff or was stopped.
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

	e := g.Begin("restart", by, seen)
	family := []string{service}
	if !only {
		family = append(family, g.Registry.dependents(service)...)
	}
	e.takeEnds(exit, family)
	return e.restart(slices.DeleteFunc(e.Group.Registry.Ordered(), func(id string) bool {
		s := e.Group.Service(id)
		follows := slices.Contains(family, id) && s.State == StateRunning && s.StartInfo != nil &&
			!e.mayComplete(s)
		return id != service && !follows
	}))
}

// RestartAll returns g after the request to restart all services that have a command (spec §10.5),
// including dead and stopped ones, and with completed also those that have completed. It takes in
// ends as Restart does, and returns ErrBlocked and ErrInMaintenance.
func (g Group) RestartAll(by string, completed bool, exit ExitLookup, seen observe.Observation) (
	after Group, again []string, err error,
) {
	e := g.Begin("restart", by, seen)
	e.takeEnds(exit, nil)
	return e.restart(slices.DeleteFunc(e.Group.Registry.Ordered(), func(id string) bool {
		s := e.Group.Service(id)
		return s.StartInfo == nil || !completed && e.mayComplete(s)
	}))
}

func (e *Draft) restart(again []string) (Group, []string, error) {
	if v := &e.Group.Registry.Supervision; v.End.State != GroupRunning {
		v.revive()
	}
	for _, id := range again {
		s := e.Service(id)
		s.Maintenance = s.Maintenance.With(s.Maintenance.On(e.Seen.Now))
		if !e.mayRun(s) {
			e.bringBack(s)
			continue
		}

		if d := e.Before.maintained(s, again, e.Seen.Now); d != nil {
			return e.Before, nil, fmt.Errorf("%w: %q depends on %q, in maintenance until %s",
				ErrInMaintenance, id, d.ID, wire.FormatTime(d.Maintenance.Until))
		}
		if d, state := e.Before.blocker(s, again); d != "" {
			return e.Before, nil, fmt.Errorf("%w: %q depends on %q, which is %s", ErrBlocked, id, d,
				state)
		}

		e.AskToStop(s, "restart", "")
		s.StartAgain, s.RemoveAfterStop, s.StoppedBy = true, false, ""
	}

	after, err := e.end()
	if err != nil {
		return e.Before, nil, err
	}

	return after, again, nil
}

// bringBack lets the next pass start s, which is not running.
func (e *Draft) bringBack(s *Service) {
	switch evidence := e.Group.EvidenceOf(s, e.Seen); s.State {
	case StateRegistered, StateWaiting:
		return
	case StateRunning:
		e.ReleaseTo(s, StateRegistered, "restart", string(cmp.Or(evidence, observe.Exited)))
	case StateShuttingDown:
		e.ReleaseTo(s, StateRegistered, "restart", "stopped")
	default:
		e.SetState(s, StateRegistered, "restart")
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
