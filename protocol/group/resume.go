package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Resume returns g, which is ending or has ended, running again (supervision.md §23.4): the
// services that have a command, and that nobody asked to stop, are started again. If the group
// ended because the service that it is was stopped, those that have completed stay so. A group that
// runs stays as it is. Resume returns ErrExhausted.
func (g Group) Resume(by string, seen observe.Observation) (Group, error) {
	d := g.Begin("resume", by, seen)
	d.resume()
	return d.end()
}

func (d *Draft) resume() {
	if d.Group.Registry.Supervision.End.State == GroupRunning {
		return
	}

	// Nothing of it had failed, so what had completed stays so.
	requested := d.Group.Registry.Supervision.End.Reason == policy.EndRequested
	d.Group.Registry.Supervision.revive()
	for _, id := range d.Group.Registry.Ordered() {
		switch s := d.Service(id); {
		case s.StartInfo == nil || s.StoppedBy != "" || s.RemoveAfterStop:
		case requested && (s.State == StateCompleted || s.DidItsWork()):
		case s.State == StateShuttingDown:
			s.StartAgain = true
		default:
			d.request(s)
		}
	}
}

// request lets the next pass start s, unless it runs (step 3 of groups.md §10.1).
func (d *Draft) request(s *Service) {
	switch {
	case s.State == "":
		s.State = StateRegistered
		d.event(s.ID, "", string(StateRegistered))
	case s.State == StateFailed && s.StopFor != nil && s.Held(d.Seen):
		s.StopFor = s.StopFor.with(ThenRestart)
		s.ForgetLimits()
	case s.State == StateFailed || s.State.Final():
		d.SetState(s, StateRegistered, "")
		s.forgetEnd()
		s.ForgetLimits()
	}
}
