package group

import "github.com/dpl-project/dpl/protocol/observe"

// EndService records how the process of p.Service ended, as reported by the program that waited
// for it (spec §10.6): code with an exit status or the number of a signal, or "" if it did not
// start; and cause, the reason why it was stopped or did not start, which may be "". The pass that
// finds the process gone copies that to LastExit. Nothing changes if p is another process than that
// of the service, or if the end was already recorded. EndService returns ErrNoService.
func (g Group) EndService(
	p ServiceProcess, code ExitCode, status int, cause string, seen observe.Observation,
) (Group, error) {
	e := g.begin(p.Service, seen)
	s := e.service(p.Service)
	if s == nil {
		return g, ErrNoService
	}

	same := p.PID != 0 && p.PID == s.PID && observe.Identity(p.PID, p.Process) == s.Identity()
	if same && s.Ended == nil {
		s.Ended = &LastExit{
			At: e.seen.Now, Reason: string(observe.Exited), Code: code, Status: status,
			Error: cause,
		}
	}
	return e.end()
}
