package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// JudgeService returns the evidence that s is dead, or "" (spec §4.2, §10), and the age of its
// heartbeat, or 0 if it has none.
func (g Group) JudgeService(s *Service, seen observe.Observation) (
	observe.Evidence, time.Duration,
) {
	switch {
	case s.Begun():
		return "", 0
	case s.IsGroup() && !s.LastHeartbeat.IsZero():
		return observe.Exited, 0
	case s.IsGroup():
		return "", 0
	}

	evidence, age := seen.Judge(s.Vitals, g.Orchestrator.StalenessThreshold)
	if settled := g.ends[s.ID].Settled; settled != "" {
		return settled, age
	}
	if evidence == observe.Stale && s.IsPaused() {
		return "", age // it cannot send heartbeats
	}
	return evidence, age
}

// pausedLong reports whether s would be stale if it were not paused.
func (g Group) pausedLong(s *Service, seen observe.Observation) bool {
	if !s.IsPaused() {
		return false
	}
	evidence, _ := seen.Judge(s.Vitals, g.Orchestrator.StalenessThreshold)
	return evidence == observe.Stale
}

func (g Group) EvidenceOf(s *Service, seen observe.Observation) observe.Evidence {
	evidence, _ := g.JudgeService(s, seen)
	return evidence
}

// Alive reports whether the process of s is known to be alive. A group that was begun counts as
// alive until a pass sees that it has ended.
func (s *Service) Alive(seen observe.Observation) bool {
	return s.Begun() || !s.IsGroup() && seen.CanCheck(s.Identity()) && seen.Gone(s.Vitals) == ""
}

// heard reports whether s has sent a heartbeat recently.
func (g Group) heard(s *Service, seen observe.Observation) bool {
	return !s.LastHeartbeat.IsZero() && g.EvidenceOf(s, seen) == "" && !g.pausedLong(s, seen)
}

// Held reports whether anything of s must still be stopped before it can be started again (spec
// §10). To find out may take a second.
func (s *Service) Held(seen observe.Observation) bool {
	return s.Alive(seen) || s.survived(seen)
}

// TermAge returns how long ago the process of s was asked to end, if it was (spec §11.4).
func (s *Service) TermAge(seen observe.Observation) time.Duration {
	return seen.Age(s.TermSentAt, s.TermSentBeat)
}

// survived reports whether processes of the start of s are left.
func (s *Service) survived(seen observe.Observation) bool {
	return s.StartID != "" && seen.CanCheck(s.Identity()) && seen.Survived != nil &&
		seen.Survived(s.Process, s.StartID, s.Keeper)
}

// AskedOnce returns survived, asked only once about each start: an observer may have to search for
// a second.
func AskedOnce(survived func(observe.Process, string, observe.Process) bool) func(
	observe.Process, string, observe.Process) bool {
	if survived == nil {
		return nil
	}

	type start struct {
		leader, keeper observe.Process
		id             string
	}
	answers := make(map[start]bool)
	return func(leader observe.Process, id string, keeper observe.Process) bool {
		s := start{leader, keeper, id}
		answer, asked := answers[s]
		if !asked {
			answer = survived(leader, id, keeper)
			answers[s] = answer
		}
		return answer
	}
}

// Foreign reports whether the process of s may be alive where this observer cannot look.
func (s *Service) Foreign(seen observe.Observation) bool {
	p, here := s.Identity(), seen.Host
	if s.IsGroup() {
		return false
	}
	if p.HostID == "" || p.HostID != here.ID {
		return p.HostID != ""
	}
	return p.BootID == here.BootID && p.PIDNamespace != "" && here.PIDNamespace != "" &&
		p.PIDNamespace != here.PIDNamespace
}

// taken reports whether no other process can be s.
func (g Group) taken(s *Service, seen observe.Observation) bool {
	return s.Held(seen) || s.Foreign(seen) && g.heard(s, seen)
}

// Ready reports whether services that depend on id may run.
func (g Group) Ready(id string, seen observe.Observation) bool {
	s := g.Service(id)
	return s != nil && g.IsReady(s, seen)
}

func (g Group) IsReady(s *Service, seen observe.Observation) bool {
	return s.State == StateCompleted || g.Completing(s, seen) || s.State == StateRunning &&
		s.Notice.Readiness.Ready() && !s.Unproven() && g.EvidenceOf(s, seen) == "" &&
		!g.ends[s.ID].unbegun
}

// dependenciesReady reports whether all services that s depends on are ready or have completed.
func (g Group) dependenciesReady(s *Service, seen observe.Observation) bool {
	for _, d := range s.Dependencies {
		if !g.Ready(d, seen) {
			return false
		}
	}
	for _, d := range s.DependenciesCompleted {
		if on := g.Service(d); on == nil || on.State != StateCompleted {
			return false
		}
	}
	return true
}

// Unregistered returns what s depends on that is not registered.
func (g Group) Unregistered(s *Service) []string {
	known := func(id string) bool { return g.Service(id) != nil }
	return slices.DeleteFunc(slices.Concat(s.Dependencies, s.DependenciesCompleted), known)
}

// OrchestratorHeard reports whether the orchestrator of g has made a pass recently (spec §11.1),
// and how long ago the last one was.
func (g Group) OrchestratorHeard(seen observe.Observation) (bool, time.Duration) {
	o := &g.Orchestrator
	if o.Heartbeat.IsZero() {
		return false, 0
	}
	age := seen.Age(o.Heartbeat, o.Beat)
	return o.State != OrchestratorStopped && !observe.IsStale(age, o.StalenessThreshold), age
}

// LookedAfter reports whether a pass over g was made lately, in its last two periods or in the
// threshold if that is longer, and its orchestrator has not left.
func (g Group) LookedAfter(seen observe.Observation) bool {
	o := &g.Orchestrator
	_, age := g.OrchestratorHeard(seen)
	return !o.Heartbeat.IsZero() && o.State != OrchestratorStopped && !observe.IsStale(age, g.patience())
}

// patience is how long passes over g may take to notice something.
func (g Group) patience() time.Duration {
	return max(2*g.Orchestrator.Period, g.Orchestrator.StalenessThreshold)
}

// Unnoticed returns for how long a service, which has a process according to g, has been gone
// without a pass that noticed; 0 if it is not gone, or there was a pass lately, or it has ended
// only since the one that is due. See WithEnds.
func (g Group) Unnoticed(s *Service, seen observe.Observation) time.Duration {
	evidence := g.EvidenceOf(s, seen)
	if !s.HasProcess() || evidence != observe.Exited && evidence != observe.Rebooted {
		return 0
	}
	_, gone := g.OrchestratorHeard(seen)
	if s.Ended != nil && !s.Ended.At.IsZero() {
		gone = min(gone, seen.Now.Sub(s.Ended.At))
	}
	if gone <= g.patience() {
		return 0
	}
	return gone
}

// Deserted reports whether neither the orchestrator nor any service of g shows a sign of life.
func (g Group) Deserted(seen observe.Observation) bool {
	if heard, _ := g.OrchestratorHeard(seen); heard {
		return false
	}

	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if s.Held(seen) || g.heard(s, seen) {
			return false
		}
	}

	return true
}

// Is reports whether the service s is in state. One is running only if its process is alive, or its
// heartbeats arrive, and its command has begun; a group, if it has begun.
func (g Group) Is(s *Service, state ServiceState, seen observe.Observation) bool {
	switch {
	case s.State != state || state != StateRunning:
		return s.State == state
	case s.IsGroup():
		return s.Begun()
	}
	return g.EvidenceOf(s, seen) == "" && !g.ends[s.ID].unbegun && (s.Alive(seen) || g.heard(s, seen))
}

// WaitReady returns whether a service is ready (spec §13.2). One that is not registered may yet be.
func (g Group) WaitReady(service string, seen observe.Observation) observe.Outcome {
	s := g.Service(service)
	if s == nil {
		return observe.Pending
	}
	return observe.OutcomeOf(g.IsReady(s, seen), s.State.Final() || s.State == StateShuttingDown)
}

// WaitEnded returns whether a service has ended for good (spec §13.2): no pass starts it again. It
// returns ErrNoService.
func (g Group) WaitEnded(service string) (observe.Outcome, error) {
	s := g.Service(service)
	if s == nil {
		return observe.Pending, ErrNoService
	}
	return observe.OutcomeOf(s.Over(), false), nil
}

// WindowOf returns the end of the grace of s, or zero, like that of an operation.
func (g Group) WindowOf(s *Service, seen observe.Observation) time.Time {
	if !s.HasProcess() {
		return time.Time{}
	}
	return seen.Window(s.Vitals, g.Orchestrator.StalenessThreshold)
}

// HasProcess reports whether s is in a state with a process.
func (s *Service) HasProcess() bool {
	return s.State == StateRunning || s.State == StateShuttingDown
}

// Silent reports whether there was no recent pass over g, and the observer cannot rule out that it
// slept as well.
func (g Group) Silent(seen observe.Observation) bool {
	o := &g.Orchestrator
	return seen.Watch != observe.Awake && (o.Heartbeat.IsZero() ||
		!seen.Heard(o.Heartbeat, o.Beat, o.StalenessThreshold))
}

// Times calls sight with each time in g whose age matters, and its beat.
func (g Group) Times(sight func(at time.Time, beat observe.Beat)) {
	sight(g.Orchestrator.Heartbeat, g.Orchestrator.Beat)
	for _, c := range g.Orchestrator.Checks {
		sight(c.At, c.Beat)
	}
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		s.Times(sight)
		sight(s.TermSentAt, s.TermSentBeat)
		if s.StartInfo.HasClock() {
			sight(s.StartedAt, s.StartedBeat)
			sight(s.ProgressAt, s.ProgressBeat)
			s.Asked.times(sight)
		}
		if s.Paused != nil {
			sight(s.Paused.At, s.Paused.Beat)
		}
		sight(s.GoneSince, s.GoneBeat)
	}
}

// Lines returns what has happened in the group after the revision since of its registry, as
// observe.Lines.
func (g Group) Lines(since int64) []observe.Line {
	return observe.Lines("groupId", g.ID, g.Registry.Events, nil, since)
}
