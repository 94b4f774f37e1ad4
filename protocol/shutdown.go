package protocol

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
