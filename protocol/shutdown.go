package protocol

import "slices"

// Shutdown returns g after the request to stop a supervisor and the running ones that depend on it
// (spec §10.4). It returns ErrNoSupervisor, and with only, if there are such, ErrHasDependents.
func (g Group) Shutdown(supervisor, by string, only bool, seen Observation) (Group, error) {
	e := g.begin(by, seen)
	if e.supervisor(supervisor) == nil {
		return g, ErrNoSupervisor
	}

	stop := map[string]bool{supervisor: true}
	for _, id := range g.Registry.dependents(supervisor) {
		if s := g.Supervisor(id); s.State != StateRunning && !s.StartAgain {
			continue
		}
		if only {
			return g, ErrHasDependents
		}
		stop[id] = true
	}

	return e.shutDownAll(stop)
}

// ShutdownAll returns g after the request to stop all supervisors (spec §10.4). Its error is
// ErrExhausted.
func (g Group) ShutdownAll(by string, seen Observation) (Group, error) {
	all := make(map[string]bool)
	for _, id := range g.Registry.sorted() {
		all[id] = true
	}
	return g.begin(by, seen).shutDownAll(all)
}

func (e *groupEdit) shutDownAll(stop map[string]bool) (Group, error) {
	for _, id := range e.g.Registry.sorted() {
		if stop[id] {
			e.shutDown(e.supervisor(id))
		}
	}
	return e.end()
}

// ShuttingDown returns which of a supervisor and those that depend on it, or of all if supervisor
// is "", are still to stop, in the order in which they do: it is the first that the others wait for
// (spec §11.3).
func (g Group) ShuttingDown(supervisor string) []string {
	ids := g.Registry.leavesFirst()
	if supervisor != "" {
		below := append(g.Registry.dependents(supervisor), supervisor)
		ids = slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(below, id) })
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		return g.Supervisor(id).State != StateShuttingDown
	})
}

func (e *groupEdit) shutDown(s *Registered) {
	s.StartAgain = false
	switch {
	case s.State == StateStopped:
	case !s.held(e.seen) && !e.g.heard(s, e.seen):
		e.stopped(s)
	case s.State != StateShuttingDown:
		e.setState(s, StateShuttingDown, "")
		s.StopRequestedAt = e.seen.Now
		s.forgetFailure()
	}
}
