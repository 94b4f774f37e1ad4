package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// JudgeService returns the evidence that s is dead, or "" (protocol.md §4.2, groups.md §10), and
// the age of its heartbeat, or 0 if it has none.
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

// EvidenceOf returns the evidence that s is dead, or "".
func (g Group) EvidenceOf(s *Service, seen observe.Observation) observe.Evidence {
	evidence, _ := g.JudgeService(s, seen)
	return evidence
}

// pausedLong reports whether s would be stale if it were not paused.
func (g Group) pausedLong(s *Service, seen observe.Observation) bool {
	if !s.IsPaused() {
		return false
	}
	evidence, _ := seen.Judge(s.Vitals, g.Orchestrator.StalenessThreshold)
	return evidence == observe.Stale
}

// heard reports whether s has sent a heartbeat recently.
func (g Group) heard(s *Service, seen observe.Observation) bool {
	return !s.LastHeartbeat.IsZero() && g.EvidenceOf(s, seen) == "" && !g.pausedLong(s, seen)
}

// taken reports whether no other process can be s.
func (g Group) taken(s *Service, seen observe.Observation) bool {
	return s.Held(seen) || s.Foreign(seen) && g.heard(s, seen)
}

// WindowOf returns the end of the grace of s, or zero, like that of an operation.
func (g Group) WindowOf(s *Service, seen observe.Observation) time.Time {
	if !s.HasProcess() {
		return time.Time{}
	}
	return seen.Window(s.Vitals, g.Orchestrator.StalenessThreshold)
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
		if s.StartInfo.HasClock() { // otherwise these only say when
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
