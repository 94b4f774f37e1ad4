package group

import "github.com/dpl-project/dpl/protocol/group/policy"

// Fail lets s fail by f.
func (e *Draft) Fail(s *Service, f *Failure) {
	s.Fail(f, e.Seen.Now)
	e.SetState(s, StateFailed, s.LastExit.String())
	if !s.Completes() && s.LastExit.Reason != policy.ReasonPreflight { // that has not failed
		e.raiseFailed(s)
	}
}

// A StartFailure says why a process did not become a service, and the class of that end (spec
// §11.5). Tempfail: there was a shortage; the host, or the process that made the pass, lacked
// something that it may have later, such as memory or a free descriptor. Terminal: a person must
// change something first.
type StartFailure struct {
	Cause string
	Class policy.Class // Tempfail, Terminal, or "" for every other failure
}

// FailStart records that the process of s did not become the service.
func (e *Draft) FailStart(s *Service, f StartFailure) {
	e.SetState(s, StateFailed, policy.StartFailed)
	s.FailedAt = e.Seen.Now
	s.LastExit = &policy.Exit{At: e.Seen.Now, Reason: policy.StartFailed, Error: f.Cause,
		Class: f.Class, Note: s.checkpoint()}
	s.LastExit.Class = s.class(s.LastExit)
	s.count(s.LastExit, e.Seen.Now)
	s.noProcess()
	e.raiseFailed(s)
}

// raiseFailed raises an alert that s has failed. A shortage concerns the whole group, which one
// alert tells: there may be many services, and each pass tries them all.
func (e *Draft) raiseFailed(s *Service) {
	v := &e.Group.Registry.Supervision
	switch {
	case !s.LastExit.Short():
		e.Raise(AlertFailed, s.ID, "%s", s.LastExit)
	case v.Short == "":
		v.Short = s.ID + ": " + s.LastExit.Error
		e.Raise(AlertHostShort, "", "%s", v.Short)
	}
}

// ForgetShortage lets the next shortage raise an alert, if every service that was not started
// because of the last one has been started since, or will not be.
func (e *Draft) ForgetShortage() {
	if e.Group.Registry.Supervision.Short == "" {
		return
	}
	for i := range e.Group.Registry.Services {
		s := &e.Group.Registry.Services[i]
		started := s.State == StateRunning && !s.Starting
		if s.LastExit.Short() && !started && !s.State.Final() {
			return
		}
	}
	e.Group.Registry.Supervision.Short = ""
}
