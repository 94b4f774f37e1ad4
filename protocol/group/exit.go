package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// EndService records how the process of p.Service ended, as reported by the program that waited for
// it (spec §10.6). Of end, these count: Code and Status, or no Code if it did not start; Error, the
// reason why it was stopped or did not start, if there is one; and CPU and MaxRSS. The pass that
// finds the process gone copies that to LastExit. Nothing changes if p is another process than that
// of the service, or if the end was already recorded. EndService returns ErrNoService.
func (g Group) EndService(p ServiceProcess, end policy.Exit, seen observe.Observation) (Group, error) {
	e := g.Begin("end", p.Service, seen)
	s := e.Service(p.Service)
	if s == nil {
		return g, ErrNoService
	}

	same := p.PID != 0 && p.PID == s.PID && observe.Identity(p.PID, p.Process).Is(s.Identity())
	if same && s.Ended == nil {
		s.Ended = &policy.Exit{
			At: e.Seen.Now, Reason: policy.Exited, Code: end.Code, Status: end.Status, Error: end.Error,
			CPU: end.CPU, MaxRSS: end.MaxRSS,
		}
	}
	return e.end()
}
