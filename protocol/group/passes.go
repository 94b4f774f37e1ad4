package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Prompt is what asked for a pass, beside people and timers: the end of a start of a service of
// the group; or, if it is the zero value, that another group, which is a service of this one, has
// changed.
type Prompt struct{ Service, StartID string }

// StandsBy reports whether a pass of owner stands by: another owner's orchestrator is heard of, or
// may be asleep (groups.md §11.1); or what has asked for it is nothing new. See Prompt.
func (g Group) StandsBy(owner string, p *Prompt, seen observe.Observation) bool {
	switch {
	case p != nil:
		return !g.promptCounts(*p, owner)
	case g.Registry.Owner == "" || g.Registry.Owner == owner:
		return false
	}
	heard, _ := g.OrchestratorHeard(seen)
	return heard || g.mayBeAsleep(seen)
}

// promptCounts reports whether a pass by owner that p has asked for does anything (supervision.md
// §19.5): it never takes over, nor goes on for an orchestrator that has left, and once another pass
// has seen the same end, it is not needed. A service that is being stopped needs one more pass when
// the last of its processes has ended.
func (g Group) promptCounts(p Prompt, owner string) bool {
	switch {
	case g.Registry.Owner != owner || g.Orchestrator.State.left():
		return false
	case p == Prompt{}:
		return true
	}

	s := g.Service(p.Service)
	return g.Registry.Supervision.OnExit == PassOnExit && s != nil && s.StartID == p.StartID &&
		(s.State == StateRunning || s.State == StateShuttingDown || !s.TermSentAt.IsZero())
}

// OrchestratorHeard reports whether the orchestrator of g has made a pass recently (§11.1),
// and how long ago the last one was.
func (g Group) OrchestratorHeard(seen observe.Observation) (bool, time.Duration) {
	o := &g.Orchestrator
	if o.Heartbeat.IsZero() {
		return false, 0
	}
	age := seen.Age(o.Heartbeat, o.Beat)
	return o.State != OrchestratorStopped && !observe.IsStale(age, o.StalenessThreshold), age
}

// mayBeAsleep reports whether the orchestrator of g may have been stopped together with the
// observer, which has just woken. It then also has a threshold to wake.
func (g Group) mayBeAsleep(seen observe.Observation) bool {
	o := &g.Orchestrator
	return seen.Watch == observe.Woken && !o.Heartbeat.IsZero() && o.State != OrchestratorStopped
}

// TwoMachines reports whether another machine that runs now has the host id of the observer: it has
// made a pass over g under another boot, after the observer's machine was booted, and not long ago
// (§11.1). To each of the two, the processes of the other would be of an earlier boot.
func (g Group) TwoMachines(seen observe.Observation) bool {
	o, here := &g.Orchestrator, seen.Host
	switch {
	case o.HostID == "" || o.HostID != here.ID,
		!o.Beat.At.Equal(o.Heartbeat) || o.Beat.BootID == "" || o.Beat.BootID == here.BootID,
		here.BootID == "" || here.BootedAt.IsZero() || o.Heartbeat.Before(here.BootedAt):
		return false
	}
	// By the wall clock: a host with a memory of its own would never find it stale. A time in the
	// future is of a clock that is behind now.
	age := wire.Span(o.Heartbeat, seen.Now)
	return age >= 0 && !observe.IsStale(age, o.StalenessThreshold)
}

// Silent reports whether there was no recent pass over g, and the observer cannot rule out that it
// slept as well.
func (g Group) Silent(seen observe.Observation) bool {
	o := &g.Orchestrator
	return seen.Watch != observe.Awake && (o.Heartbeat.IsZero() ||
		!seen.Heard(o.Heartbeat, o.Beat, o.StalenessThreshold))
}

// LookedAfter reports whether a pass over g was made lately, in its last two periods or in the
// threshold if that is longer, and its orchestrator has not left.
func (g Group) LookedAfter(seen observe.Observation) bool {
	o := &g.Orchestrator
	_, age := g.OrchestratorHeard(seen)
	return !o.Heartbeat.IsZero() && o.State != OrchestratorStopped &&
		!observe.IsStale(age, g.patience())
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

// PassesTooRare returns the shorter of the last two times between passes of g, so that a single
// pause does not count. If the threshold of g is below 2.5 times that, want is the least threshold
// it should have, in whole seconds; otherwise want is 0.
func (g Group) PassesTooRare(before Group) (period, want time.Duration) {
	period = min(g.Orchestrator.Period, before.Orchestrator.Period)
	least := min(wire.Milliseconds(period.Milliseconds()*5/2), wire.Longest-time.Second)
	if g.Orchestrator.StalenessThreshold < least {
		want = (least - 1).Truncate(time.Second) + time.Second
	}
	return period, want
}

// SetOrchestratorState returns g with a new state of owner's orchestrator, between passes. It
// returns g unchanged if g has another owner or can count no further.
func (g Group) SetOrchestratorState(owner string, state OrchestratorState) Group {
	if g.Registry.Owner == owner && g.Orchestrator.Revision < wire.LastRevision {
		g.Orchestrator.Revision++
		g.Orchestrator.State = state
	}
	return g
}
