package protocol

// EndService returns g after whoever waits for the process of a.Supervisor has said how it
// ended (spec §10.6): code, with an exit status or the number of a signal, or "" if it did not
// begin; and cause, why it was ended or did not begin, which may be "". The pass that finds the
// process gone takes that into its LastExit. Nothing changes if a has another process than the
// service, or if the end was told already. It returns ErrNoService.
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
