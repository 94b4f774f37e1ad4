package protocol

import "slices"

// Shutdown returns g after the request to stop a supervisor and the running ones that depend on it (spec §10.4). It returns
// ErrNoSupervisor, and with only, if there are such, ErrHasDependents.
func (g Group) Shutdown(supervisor, by string, only bool, seen Observation) (Group, error) {
	e := g.begin(by, seen)
	if e.supervisor(supervisor) == nil {
		return g, ErrNoSupervisor
	}
	stop := map[string]bool{supervisor: true}
	for _, id := range g.Registry.dependents(supervisor) {
		if g.Supervisor(id).State != StateRunning {
			continue
		}
		if only {
			return g, ErrHasDependents
		}
		stop[id] = true
	}
	for _, id := range g.Registry.sorted() {
		if stop[id] {
			e.shutDown(e.supervisor(id))
		}
	}
	return e.end(), nil
}

// ShuttingDown returns which of a supervisor and those that depend on it are still to stop, in the order in which they do: it is
// the first that the others wait for (spec §11.3).
func (g Group) ShuttingDown(supervisor string) []string {
	ids := append([]string{supervisor}, g.Registry.dependents(supervisor)...)
	slices.Reverse(ids)
	return slices.DeleteFunc(ids, func(id string) bool {
		s := g.Supervisor(id)
		return s == nil || s.State != StateShuttingDown
	})
}

func (e *groupEdit) shutDown(s *Registered) {
	switch {
	case s.State == StateStopped, s.State == StateShuttingDown && (s.held(e.seen) || e.g.heard(s, e.seen)):
	case !s.held(e.seen) && !e.g.heard(s, e.seen):
		e.stopped(s)
	default:
		e.setState(s, StateShuttingDown, "")
		s.StopRequestedAt = e.seen.Now
		s.forgetFailure()
	}
}
