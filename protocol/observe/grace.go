package observe

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// When a container is frozen, a machine is suspended or a network file system is away, participants
// and observers stop together. The first one to continue finds old heartbeats, of participants that
// had no chance to send newer ones. So if a file shows no recent sign of life at all, an edit of it
// declares nothing stale, but grants each a grace of one more threshold. The grace is recorded
// together with the heartbeat that it follows, so there is one grace for each silence, however many
// observers look, and however often.

// A Grace is one more threshold for a participant, supervisor or service that is judged by its
// heartbeats (spec §4.6). Frames and entries share it, so it is never changed.
type Grace struct {
	Of      time.Time // the last heartbeat before it; after a later one it no longer counts
	At      time.Time // when it was granted
	Beat    Beat      // of At
	Unknown []wire.Member

	nested *wire.Nested
}

// A Watch says how an observer that looks at a file repeatedly has looked so far (spec §4.6).
type Watch string

const (
	Unwatched Watch = ""      // not for long yet, or it cannot tell
	Awake     Watch = "awake" // for two thirds of the threshold at least, without a pause as long
	Woken     Watch = "woken" // such a pause has ended less than two thirds of the threshold ago
)

// A Vigil is the memory of an observer that looks at a file repeatedly, at least every half
// threshold. The zero value has not looked yet.
type Vigil struct {
	since, last int64 // on the monotonic clock, in milliseconds; 0: never
	paused      bool
}

// Look records that the observer looks at a file with that threshold now, and returns seen with its
// Watch.
func (v *Vigil) Look(seen Observation, threshold time.Duration) Observation {
	now := seen.MonotonicMs
	if now == 0 {
		return seen
	}

	elapsed := func(since int64) time.Duration { return wire.Milliseconds(now - since) }

	switch {
	case v.last == 0:
		v.since = now
	case long(elapsed(v.last), threshold):
		v.since, v.paused = now, true
	}

	v.last = now

	switch {
	case elapsed(v.since) >= TwoThirds(threshold):
		seen.Watch, v.paused = Awake, false
	case v.paused:
		seen.Watch = Woken
	}

	return seen
}

// long reports whether age is longer than two thirds of threshold, in the past or in the future.
// Heartbeats come at least every third, so a participant that was awake less than two thirds ago
// cannot have become stale because of a pause that ends now.
func long(age, threshold time.Duration) bool { return IsStale(age, TwoThirds(threshold)) }

// TwoThirds returns two thirds of threshold.
func TwoThirds(threshold time.Duration) time.Duration { return threshold - threshold/3 }

// counting returns g if it was granted for the silence after heartbeat, and nil otherwise.
func (g *Grace) counting(heartbeat time.Time) *Grace {
	if g == nil || !g.Of.Equal(heartbeat) {
		return nil
	}
	return g
}

// graced reports whether v has a grace that is not over.
func (seen Observation) graced(v Vitals, threshold time.Duration) bool {
	g := v.Grace.counting(v.LastHeartbeat)
	return g != nil && !IsStale(seen.Age(g.At, g.Beat), threshold)
}

// Window returns the end of the grace of v, by the observer's clock, or zero if v has none or is
// gone.
func (seen Observation) Window(v Vitals, threshold time.Duration) time.Time {
	if !seen.graced(v, threshold) || seen.Gone(v) != "" {
		return time.Time{}
	}
	return seen.Now.Add(threshold - seen.Age(v.Grace.At, v.Grace.Beat))
}

// Grant returns the grace of v after an edit of a silent file. v gets a new one if it is judged by
// its heartbeats, the last of them is older than oldest, and it has no grace for that one yet.
func (seen Observation) Grant(v Vitals, oldest time.Duration) *Grace {
	g := v.Grace.counting(v.LastHeartbeat)
	if g != nil || v.LastHeartbeat.IsZero() ||
		!IsStale(seen.Age(v.LastHeartbeat, v.Beat), oldest) ||
		!seen.CountsHeartbeats(v) || seen.Gone(v) != "" {
		return g
	}
	return &Grace{Of: wire.Moment(v.LastHeartbeat), At: seen.Now, Beat: seen.Beat()}
}

// Heard reports whether the heartbeat at that time shows that its sender was awake recently. A
// heartbeat that this host sees for the first time may be old (spec §18).
func (seen Observation) Heard(at time.Time, beat Beat, threshold time.Duration) bool {
	age := seen.Age(at, beat)
	return !long(age, threshold) && (age != 0 || !seen.sights(at, beat))
}

func (g *Grace) record(c *wire.Codec) { c.Record(&g.Unknown, g.members, "of", "at") }

func (g *Grace) members(c *wire.Codec) {
	c.Time("of", &g.Of, wire.Always)
	c.Time("at", &g.At, wire.Always)
	g.Beat.Member(c, "beat", &g.nested)
}
