package group

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A SignalName is a signal that a pass sends: one of these, or the soft signal of a service.
type SignalName string

const (
	Term SignalName = "TERM"
	Kill SignalName = "KILL"
	Stop SignalName = "STOP" // it is paused
	Cont SignalName = "CONT" // it goes on
)

// StandsBy reports whether a pass of owner stands by: another owner's orchestrator is heard of, or
// may be asleep (spec §11.1); or what has asked for it is nothing new. See Prompt.
func (g Group) StandsBy(owner string, p *Prompt, seen observe.Observation) bool {
	switch {
	case p != nil:
		return !g.heeds(*p, owner)
	case g.Registry.Owner == "" || g.Registry.Owner == owner:
		return false
	}
	heard, _ := g.OrchestratorHeard(seen)
	return heard || g.mayBeAsleep(seen)
}

// TwoMachines reports whether another machine that runs now has the host id of the observer: it has
// made a pass over g under another boot, after the observer's machine was booted, and not long ago
// (spec §11.1). To each of the two, the processes of the other would be of an earlier boot.
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

// mayBeAsleep reports whether the orchestrator of g may have been stopped together with the
// observer, which has just woken. It then also has a threshold to wake.
func (g Group) mayBeAsleep(seen observe.Observation) bool {
	o := &g.Orchestrator
	return seen.Watch == observe.Woken && !o.Heartbeat.IsZero() && o.State != OrchestratorStopped
}

// validStartID reports whether id is 16 lower-case hexadecimal digits (spec §9.3).
func validStartID(id string) bool {
	return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == ""
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
