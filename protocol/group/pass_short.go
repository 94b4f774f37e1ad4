package group

import "github.com/dpl-project/dpl/protocol/group/policy"

// A StartFailure says why a process did not become a service, and the class of that end (spec
// §11.5). Tempfail: there was a shortage; the host, or the process that made the pass, lacked
// something that it may have later, such as memory or a free descriptor. Terminal: a person must
// change something first.
type StartFailure struct {
	Cause string
	Class policy.Class // Tempfail, Terminal, or "" for every other failure
}

// startFailed records that the process of s did not become the service.
func (e *edit) startFailed(s *Service, f StartFailure) {
	e.setState(s, StateFailed, policy.StartFailed)
	s.FailedAt = e.seen.Now
	s.LastExit = &policy.Exit{At: e.seen.Now, Reason: policy.StartFailed, Error: f.Cause,
		Class: f.Class, Note: s.checkpoint()}
	s.LastExit.Class = s.class(s.LastExit)
	s.count(s.LastExit, e.seen.Now)
	s.noProcess()
	e.tellFailed(s)
}

// fail lets s fail by f.
func (e *edit) fail(s *Service, f *Failure) {
	s.fail(f, e.seen.Now)
	e.setState(s, StateFailed, s.LastExit.String())
	if !s.completes() && s.LastExit.Reason != policy.ReasonPreflight { // that has not failed
		e.tellFailed(s)
	}
}

// tellFailed raises an alert that s has failed. A shortage concerns the whole group, which one
// alert tells: there may be many services, and each pass tries them all.
func (e *edit) tellFailed(s *Service) {
	v := &e.g.Registry.Supervision
	switch {
	case !s.LastExit.Short():
		e.raise(AlertFailed, s.ID, "%s", s.LastExit)
	case v.Short == "":
		v.Short = s.ID + ": " + s.LastExit.Error
		e.raise(AlertHostShort, "", "%s", v.Short)
	}
}

// forgetShortage lets the next shortage raise an alert, if every service that was not started
// because of the last one has been started since, or will not be.
func (e *edit) forgetShortage() {
	if e.g.Registry.Supervision.Short == "" {
		return
	}
	for i := range e.g.Registry.Services {
		s := &e.g.Registry.Services[i]
		started := s.State == StateRunning && !s.Starting
		if s.LastExit.Short() && !started && !s.State.Final() {
			return
		}
	}
	e.g.Registry.Supervision.Short = ""
}
