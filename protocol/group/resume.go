package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Resume returns g, which is ending or has ended, running again (spec §23.4): the services that
// have a command, and that nobody asked to stop, are started again. If the group ended because the
// service that it is was stopped, those that have completed stay so. A group that runs stays as it
// is. Resume returns ErrExhausted.
func (g Group) Resume(by string, seen observe.Observation) (Group, error) {
	e := g.Begin("resume", by, seen)
	e.resume()
	return e.end()
}

func (e *Draft) resume() {
	if e.Group.Registry.Supervision.End.State == GroupRunning {
		return
	}

	requested := e.Group.Registry.Supervision.End.Reason == policy.EndRequested
	e.Group.Registry.Supervision.revive()
	for _, id := range e.Group.Registry.Ordered() {
		switch s := e.Service(id); {
		case s.StartInfo == nil || s.StoppedBy != "" || s.RemoveAfterStop:
		case requested && (s.State == StateCompleted || s.DidItsWork()):
		case s.State == StateShuttingDown:
			s.StartAgain = true
		default:
			e.request(s)
		}
	}
}

// request is step 3.
func (e *Draft) request(s *Service) {
	switch {
	case s.State == "":
		s.State = StateRegistered
		e.event(s.ID, "", string(StateRegistered))
	case s.State == StateFailed && s.StopFor != nil && s.Held(e.Seen):
		s.StopFor = s.StopFor.with(ThenRestart)
		s.ForgetLimits()
	case s.State == StateFailed || s.State.Final():
		e.SetState(s, StateRegistered, "")
		s.forgetEnd()
		s.ForgetLimits()
	}
}
