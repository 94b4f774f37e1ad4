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
// command. It returns ErrNoService, ErrNoStartInfo if the service itself has no command, and
// ErrBlocked, with names, if a service that would have to stop depends on another that is missing,
// dead or stopped and is not restarted with it. again has the ids of the restarted services,
// in order. It returns ErrInMaintenance, with names, if such a service depends on another that is in
// a maintenance, and so would stay stopped until that ends.
func (g Group) Restart(service, by string, only bool,
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

	below := g.Registry.dependents(service)
	again = slices.DeleteFunc(g.Registry.ordered(), func(id string) bool {
		s := g.Service(id)
		follows := !only && slices.Contains(below, id) && s.State == StateRunning &&
			s.StartInfo != nil
		return id != service && !follows
	})

	return g.restart(again, by, seen)
}

// RestartAll returns g after the request to restart all services that have a command (spec §10.5),
// including dead and stopped ones, and with completed also those that have completed. It returns
// ErrBlocked and ErrInMaintenance.
func (g Group) RestartAll(by string, completed bool, seen observe.Observation) (
	after Group, again []string, err error,
) {
	again = slices.DeleteFunc(g.Registry.ordered(), func(id string) bool {
		s := g.Service(id)
		return s.StartInfo == nil || !completed && g.mayHaveCompleted(s, seen)
	})
	return g.restart(again, by, seen)
}

// mayHaveCompleted reports whether s has completed, or has ended and the next pass finds out
// whether it has.
func (g Group) mayHaveCompleted(s *Service, seen observe.Observation) bool {
	return s.State == StateCompleted ||
		s.State == StateRunning && s.Restart != Permanent && !s.held(seen) && !g.heard(s, seen)
}

func (g Group) restart(again []string, by string, seen observe.Observation) (
	Group, []string, error,
) {
	e := g.begin("restart", by, seen)
	if v := &e.g.Registry.Supervision; v.End.State != GroupRunning {
		v.revive()
	}
	for _, id := range again {
		s := e.service(id)
		s.Maintenance = s.Maintenance.with(s.Maintenance.On(e.seen.Now))
		if !s.held(e.seen) && !g.heard(s, e.seen) {
			e.bringBack(s)
			continue
		}

		if d := g.maintained(s, again, e.seen.Now); d != nil {
			return g, nil, fmt.Errorf("%w: %q depends on %q, in maintenance until %s", ErrInMaintenance, id,
				d.ID, wire.FormatTime(d.Maintenance.Until))
		}
		if d, state := g.blocker(s, again); d != "" {
			return g, nil, fmt.Errorf("%w: %q depends on %q, which is %s", ErrBlocked, id, d, state)
		}

		e.askToStop(s, "restart")
		s.StartAgain, s.RemoveAfterStop, s.StoppedBy = true, false, ""
	}

	after, err := e.end()
	if err != nil {
		return g, nil, err
	}

	return after, again, nil
}

// bringBack lets the next pass start s, which is not running.
func (e *edit) bringBack(s *Service) {
	switch evidence := e.g.dead(s, e.seen); s.State {
	case StateRegistered, StateWaiting:
		return
	case StateRunning:
		e.released(s, StateRegistered, "restart", string(cmp.Or(evidence, observe.Exited)))
	case StateShuttingDown:
		e.released(s, StateRegistered, "restart", "stopped")
	default:
		e.setState(s, StateRegistered, "restart")
		s.forgetEnd()
	}

	s.StoppedBy = ""
	s.forgetLimits()
}

// maintained returns the first dependency because of whose maintenance no pass will start s again
// before that ends, or nil. One that has completed, and is not restarted as well, is none.
func (g Group) maintained(s *Service, again []string, now time.Time) *Service {
	for _, d := range s.needs() {
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
	for _, d := range s.needs() {
		on := g.Service(d)
		switch {
		case slices.Contains(again, d):
		case on == nil:
			return d, "missing"
		case neverReady(on.State) || on.State == StateShuttingDown && !on.StartAgain:
			return d, string(on.State)
		}
	}

	return "", ""
}
