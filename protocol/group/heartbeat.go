package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A ServiceProcess is a process that claims to be a service.
type ServiceProcess struct {
	Service    string
	PID        int
	Process    observe.Process // zero: it named no process that could be checked
	Heartbeats bool            // it promises to send more heartbeats
	Progress   bool            // it has made progress
	Spend      []policy.Amount // what it has spent since its last heartbeat
}

// BeatService returns g after a heartbeat of the service p.Service, with the report say (groups.md
// §10.3). The verdict is VerdictContinue; VerdictAsked if it is asked for a checkpoint
// (supervision.md §26.3), see Asked; VerdictCleanUp if the service must end; or VerdictCrashed if
// it was declared dead, and then nothing has changed. BeatService returns ErrNoService,
// ErrOtherProcess if another process of the service is alive, ErrNotReady if the service says that
// it is idle and was not ready, and ErrTooManyNames because of p.Spend.
func (g Group) BeatService(p ServiceProcess, say observe.Report, seen observe.Observation) (
	after Group, verdict observe.Verdict, err error,
) {
	d := g.Begin("heartbeat", p.Service, seen)
	s, actor := d.Service(p.Service), observe.Identity(p.PID, p.Process)
	switch {
	case s == nil:
		return g, "", ErrNoService
	case s.IsGroup():
		return g, "", observe.ErrOtherProcess
	case actor.Known() && !actor.Is(s.Identity()) && g.taken(s, d.Seen):
		return g, "", observe.ErrOtherProcess
	case s.State.Final(), !actor.Known() && d.Seen.Gone(s.Vitals) != "":
		return g, observe.VerdictCrashed, nil
	}

	// Another process of the service, which no pass has started.
	switch recorded := s.Identity(); {
	case !recorded.Known() && p.PID != 0:
		s.ReplaceProcess(p.PID, actor)
	case actor.Known() && !actor.Is(recorded):
		s.NewProcess(p.PID, actor)
	}

	if say.Readiness == observe.ReadinessIdle && !s.Notice.Readiness.Ready() {
		return g, "", observe.ErrNotReady
	}

	d.beat(s, p, say)
	verdict = s.verdict()

	d.Report(s, say)
	if err := s.spend(p.Spend); err != nil {
		return g, "", err
	}

	// Whether anything else has changed: if not, losing the edit in a power cut does no harm.
	before := *g.Service(s.ID)
	before.LastHeartbeat, before.Beat = s.LastHeartbeat, s.Beat
	before.ProgressAt, before.ProgressBeat = s.ProgressAt, s.ProgressBeat
	d.Group.effects.BeatOnly = sameService(before, *s)
	d.beaten = true
	if after, err = d.end(); err != nil {
		return g, "", err
	}
	return after, verdict, nil
}

// beat records a heartbeat of s by p, with the report say. A service that was thought to have
// failed runs again, unless a pass stops it or restarts it together with others.
func (d *Draft) beat(s *Service, p ServiceProcess, say observe.Report) {
	s.Refresh(d.Seen)
	if p.Progress {
		s.ProgressAt, s.ProgressBeat = d.Seen.Now, d.Seen.Beat()
		s.Asked = s.Asked.without(clockProgress)
	}
	if say.Note != nil {
		s.Asked = s.Asked.answer()
	}

	s.Starting, s.Heartbeats = false, s.Heartbeats || p.Heartbeats
	failed := s.State == StateFailed || s.State == StateScheduled
	if failed && s.TermSentAt.IsZero() && s.StopFor == nil && !d.Group.Registry.InSet(s.ID) {
		d.SetState(s, StateRunning, "")
		s.ForgetFailure()
		s.RunningSince = d.Seen.Now
	}
	if s.State == StateRunning && s.RunningSince.IsZero() {
		s.RunningSince = s.begunAt(d.Seen.Now)
	}
}

// verdict returns what the heartbeat of s is answered with, if it counts.
func (s *Service) verdict() observe.Verdict {
	switch {
	case s.State == StateShuttingDown, s.State == StateFailed, s.State == StateScheduled,
		s.StopFor != nil:
		return observe.VerdictCleanUp
	case s.State == StateRunning && len(s.Asked.open()) > 0:
		return observe.VerdictAsked
	}
	return observe.VerdictContinue
}

// EndService records how the process of p.Service ended, as reported by the program that waited for
// it (§10.6). Of end, these count: Code and Status, or no Code if it did not start; Error, the
// reason why it was stopped or did not start, if there is one; and CPU and MaxRSS. The pass that
// finds the process gone copies that to LastExit. Nothing changes if p is another process than that
// of the service, or if the end was already recorded. EndService returns ErrNoService.
func (g Group) EndService(p ServiceProcess, end policy.Exit, seen observe.Observation) (
	Group, error,
) {
	d := g.Begin("end", p.Service, seen)
	s := d.Service(p.Service)
	if s == nil {
		return g, ErrNoService
	}

	same := p.PID != 0 && p.PID == s.PID && observe.Identity(p.PID, p.Process).Is(s.Identity())
	if same && s.Ended == nil {
		s.Ended = &policy.Exit{
			At: d.Seen.Now, Reason: policy.Exited, Code: end.Code, Status: end.Status, Error: end.Error,
			CPU: end.CPU, MaxRSS: end.MaxRSS,
		}
	}
	return d.end()
}
