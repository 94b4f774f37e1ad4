package group

import "github.com/dpl-project/dpl/protocol/group/policy"

// Fail lets s fail by f.
func (d *Draft) Fail(s *Service, f *Failure) {
	s.Fail(f, d.Seen.Now)
	d.SetState(s, StateFailed, s.LastExit.String())
	if !s.Completes() && s.LastExit.Reason != policy.ReasonPreflight { // that has not failed
		d.raiseFailed(s)
	}
}

// A StartFailure says why a process did not become a service, and the class of that end (groups.md
// §11.5). Tempfail: there was a shortage; the host, or the process that made the pass, lacked
// something that it may have later, such as memory or a free descriptor. Terminal: a person must
// change something first.
type StartFailure struct {
	Cause string
	Class policy.Class // Tempfail, Terminal, or "" for every other failure
}

// FailStart records that the process of s did not become the service.
func (d *Draft) FailStart(s *Service, f StartFailure) {
	d.SetState(s, StateFailed, policy.StartFailed)
	s.FailedAt = d.Seen.Now
	s.LastExit = &policy.Exit{At: d.Seen.Now, Reason: policy.StartFailed, Error: f.Cause,
		Class: f.Class, Note: s.checkpoint()}
	s.LastExit.Class = s.class(s.LastExit)
	s.count(s.LastExit, d.Seen.Now)
	s.noProcess()
	d.raiseFailed(s)
}

// raiseFailed raises an alert that s has failed. A shortage concerns the whole group, which one
// alert reports: there may be many services, and each pass tries them all.
func (d *Draft) raiseFailed(s *Service) {
	v := &d.Group.Registry.Supervision
	switch {
	case !s.LastExit.Short():
		d.Raise(AlertFailed, s.ID, "%s", s.LastExit)
	case v.Short == "":
		v.Short = s.ID + ": " + s.LastExit.Error
		d.Raise(AlertHostShort, "", "%s", v.Short)
	}
}

// ForgetShortage lets the next shortage raise an alert, if every service that was not started
// because of the last one has been started since, or will not be.
func (d *Draft) ForgetShortage() {
	if d.Group.Registry.Supervision.Short == "" {
		return
	}
	for i := range d.Group.Registry.Services {
		s := &d.Group.Registry.Services[i]
		started := s.State == StateRunning && !s.Starting
		if s.LastExit.Short() && !started && !s.State.Final() {
			return
		}
	}
	d.Group.Registry.Supervision.Short = ""
}
