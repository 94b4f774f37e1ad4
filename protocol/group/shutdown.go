package group

import (
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Shutdown returns g after the request to stop a service and the running ones that depend on it
// (spec §10.4). It returns ErrNoService, and with only, ErrHasDependents if running services depend
// on it.
func (g Group) Shutdown(service, by string, only bool, seen observe.Observation) (Group, error) {
	e := g.begin("shutdown", by, seen)
	if e.service(service) == nil {
		return g, ErrNoService
	}

	stop := map[string]bool{service: true}
	for _, id := range g.Registry.dependents(service) {
		if s := g.Service(id); s.State != StateRunning && !s.StartAgain {
			continue
		}
		if only {
			return g, ErrHasDependents
		}
		stop[id] = true
	}

	return e.shutDownAll(stop)
}

// ShutdownAll returns g after the request to stop all services (spec §10.4). It returns
// ErrExhausted.
func (g Group) ShutdownAll(by string, seen observe.Observation) (Group, error) {
	all := make(map[string]bool)
	for _, id := range g.Registry.ordered() {
		all[id] = true
	}
	return g.begin("shutdown", by, seen).shutDownAll(all)
}

func (e *edit) shutDownAll(stop map[string]bool) (Group, error) {
	for _, id := range e.g.Registry.ordered() {
		if stop[id] {
			e.shutDown(e.service(id))
		}
	}
	return e.end()
}

// ShuttingDown returns the services that have not stopped yet, in the order in which they stop: the
// first is the one that the others wait for (spec §11.3). It considers the given service and its
// dependents, or all services if service is "".
func (g Group) ShuttingDown(service string) []string {
	ids := g.Registry.leavesFirst()
	if service != "" {
		below := append(g.Registry.dependents(service), service)
		ids = slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(below, id) })
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		return g.Service(id).State != StateShuttingDown
	})
}

func (e *edit) shutDown(s *Service) {
	s.StartAgain, s.Maintenance = false, s.Maintenance.with(false)
	switch {
	case s.State == StateCompleted,
		s.State == StateStopped && e.g.Registry.Supervision.End.State == GroupRunning:
		return
	case s.State == StateStopped: // its group ended: now it also stays so when that runs again
	case !s.held(e.seen) && !e.g.heard(s, e.seen) && s.RemoveAfterStop:
		e.remove(s)
		return
	case !s.held(e.seen) && !e.g.heard(s, e.seen):
		e.stopped(s)
	default:
		e.askToStop(s, "")
	}
	s.StoppedBy = cmp.Or(s.StoppedBy, e.by)
}

// askToStop lets passes stop s (spec §10.4), unless they already do.
func (e *edit) askToStop(s *Service, reason string) {
	if s.State != StateShuttingDown {
		e.setState(s, StateShuttingDown, reason)
		s.StopRequestedAt = e.seen.Now
		s.forgetFailure()
	}
}
