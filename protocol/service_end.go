package protocol

// EndService records how the process of a.Supervisor ended, as reported by the program that waited
// for it (spec §10.6): code with an exit status or the number of a signal, or "" if it did not
// start; and cause, the reason why it was stopped or did not start, which may be "". The pass that
// finds the process gone copies that to LastExit. Nothing changes if a has another process than the
// service, or if the end was already recorded. EndService returns ErrNoService.
func (g Group) EndService(a Actor, code ExitCode, status int, cause string, seen Observation) (Group, error) {
	e := g.begin(a.Supervisor, seen)
	s := e.service(a.Supervisor)
	if s == nil {
		return g, ErrNoService
	}

	same := a.PID != 0 && a.PID == s.PID && identity(a.PID, a.Process) == s.identity()
	if same && s.Ended == nil {
		s.Ended = &LastExit{At: e.seen.Now, Reason: string(Exited), Code: code, Status: status, Error: cause}
	}
	return e.end()
}
