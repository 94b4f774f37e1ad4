package protocol

import "time"

// A ServiceProcess is a process that claims to be a service.
type ServiceProcess struct {
	Service    string
	PID        int
	Process    Process // zero: it named no process that could be checked
	Heartbeats bool    // it promises to send more heartbeats
}

// BeatService returns g after a heartbeat of the service p.Service, with the report say (spec
// §10.3). The verdict is VerdictContinue; VerdictCleanUp if the service must end; or VerdictCrashed
// if it was declared dead, and then nothing has changed. BeatService returns ErrNoService, and
// ErrOtherProcess if another process of the service is alive.
func (g Group) BeatService(p ServiceProcess, say Report, seen Observation) (
	after Group, verdict Verdict, err error,
) {
	e := g.begin(p.Service, seen)
	s, actor := e.service(p.Service), identity(p.PID, p.Process)
	switch {
	case s == nil:
		return g, "", ErrNoService
	case actor.Known() && actor != s.identity() && g.taken(s, e.seen):
		return g, "", ErrOtherProcess
	case s.State.final(), !actor.Known() && s.gone(e.seen) != "":
		return g, VerdictCrashed, nil
	}

	switch recorded := s.identity(); {
	case !recorded.Known() && p.PID != 0:
		s.PID, s.Process, s.nested = p.PID, actor, s.nested.withoutProcess()
	case actor.Known() && actor != recorded:
		s.setProcess(p.PID, actor)
	}

	e.beat(s)
	s.Starting, s.Heartbeats = false, s.Heartbeats || p.Heartbeats
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
