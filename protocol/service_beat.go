package protocol

import "time"

// BeatService returns g after a heartbeat of the service a.Supervisor, with the report say (spec
// §10.3). verdict is VerdictContinue; VerdictCleanUp if the service must end; or VerdictCrashed if it
// was declared dead, and then nothing has changed. BeatService returns ErrNoService, and ErrOtherProcess if another process of the
// service is alive.
func (g Group) BeatService(a Actor, say Report, seen Observation) (after Group, verdict Verdict, err error) {
	e := g.begin(a.Supervisor, seen)
	s, actor := e.service(a.Supervisor), identity(a.PID, a.Process)
	switch {
	case s == nil:
		return g, "", ErrNoService
	case actor.Known() && actor != s.identity() && g.taken(s, e.seen):
		return g, "", ErrOtherProcess
	case s.State.final(), !actor.Known() && s.gone(e.seen) != "":
		return g, VerdictCrashed, nil
	}
	switch recorded := s.identity(); {
	case !recorded.Known() && a.PID != 0:
		s.PID, s.Process, s.nested = a.PID, actor, s.nested.withoutProcess()
	case actor.Known() && actor != recorded:
		s.setProcess(a.PID, actor)
	}
	e.beat(s)
	s.Starting, s.Heartbeats = false, s.Heartbeats || a.Heartbeats
	failed := s.State == StateFailed || s.State == StateScheduled
	if failed && s.TermSentAt.IsZero() {
		e.setState(s, StateRunning, "")
		s.forgetFailure()
		s.RunningSince = time.Time{}
	}
	if s.State == StateRunning && s.RunningSince.IsZero() {
		s.RunningSince = e.seen.Now
	}
	verdict = VerdictContinue
	if s.State == StateShuttingDown || s.State == StateFailed || s.State == StateScheduled {
		verdict = VerdictCleanUp
	}
	e.say(s, say)
	before := *g.Service(s.ID)
	before.LastHeartbeat, before.Beat = s.LastHeartbeat, s.Beat
	e.g.effects.BeatOnly = sameService(before, *s)
	e.beaten = true
	if after, err = e.end(); err != nil {
		return g, "", err
	}
	return after, verdict, nil
}
