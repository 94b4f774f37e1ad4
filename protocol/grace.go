package protocol

import "time"

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
	Unknown []Member

	nested *nestedUnknown
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

	elapsed := func(since int64) time.Duration { return milliseconds(now - since) }

	switch {
	case v.last == 0:
		v.since = now
	case long(elapsed(v.last), threshold):
		v.since, v.paused = now, true
	}

	v.last = now

	switch {
	case elapsed(v.since) >= twoThirds(threshold):
		seen.Watch, v.paused = Awake, false
	case v.paused:
		seen.Watch = Woken
	}

	return seen
}

// long reports whether age is longer than two thirds of threshold, in the past or in the future.
// Heartbeats come at least every third, so a participant that was awake less than two thirds ago
// cannot have become stale because of a pause that ends now.
func long(age, threshold time.Duration) bool { return stale(age, twoThirds(threshold)) }

func twoThirds(threshold time.Duration) time.Duration { return threshold - threshold/3 }

// counting returns g if it was granted for the silence after heartbeat, and nil otherwise.
func (g *Grace) counting(heartbeat time.Time) *Grace {
	if g == nil || !g.Of.Equal(heartbeat) {
		return nil
	}
	return g
}

// graced reports whether v has a grace that is not over.
func (seen Observation) graced(v vital, threshold time.Duration) bool {
	g := v.grace.counting(v.heartbeat)
	return g != nil && !stale(seen.age(g.At, g.Beat), threshold)
}

// WindowOf returns the end of the grace of f. It returns zero if f is not live or has no grace
// left.
func (op Operation) WindowOf(f *Frame, seen Observation) time.Time {
	if !f.State.Live() {
		return time.Time{}
	}
	return seen.window(f.vital(), op.StalenessThreshold)
}

// WindowOfSupervisor is WindowOf for a supervisor.
func (op Operation) WindowOfSupervisor(s Supervisor, seen Observation) time.Time {
	if s.Status != Alive {
		return time.Time{}
	}
	return seen.window(s.vital(), op.StalenessThreshold)
}

// WindowOf returns the end of the grace of s, or zero, like that of an operation.
func (g Group) WindowOf(s *Service, seen Observation) time.Time {
	if s.State != StateRunning && s.State != StateShuttingDown {
		return time.Time{}
	}
	return seen.window(s.vital(), g.Orchestrator.StalenessThreshold)
}

// window returns the end of the grace of v, by the observer's clock, or zero if v has none or is
// gone.
func (seen Observation) window(v vital, threshold time.Duration) time.Time {
	if !seen.graced(v, threshold) || seen.gone(v.pid, v.process, v.heartbeat) != "" {
		return time.Time{}
	}
	return seen.Now.Add(threshold - seen.age(v.grace.At, v.grace.Beat))
}

// grace returns the grace of v after an edit of a silent file. v gets a new one if it is judged by
// its heartbeats, the last of them is older than oldest, and it has no grace for that one yet.
func (seen Observation) grace(v vital, oldest time.Duration) *Grace {
	g := v.grace.counting(v.heartbeat)
	if g != nil || v.heartbeat.IsZero() || !stale(seen.age(v.heartbeat, v.beat), oldest) ||
		!seen.countsHeartbeats(v) ||
		seen.gone(v.pid, v.process, v.heartbeat) != "" {
		return g
	}
	return &Grace{Of: Moment(v.heartbeat), At: seen.Now, Beat: seen.beat()}
}

// silent reports whether op shows no recent heartbeat at all, and the observer cannot rule out that
// it slept as well.
func (op Operation) silent(seen Observation) bool {
	if seen.Watch == Awake {
		return false
	}

	for _, f := range op.Stack {
		if seen.heard(f.LastHeartbeat, f.Beat, op.StalenessThreshold) {
			return false
		}
	}

	for i := range op.Supervisors {
		if s := &op.Supervisors[i]; seen.heard(s.LastHeartbeat, s.Beat, op.StalenessThreshold) {
			return false
		}
	}

	return true
}

// heard reports whether the heartbeat at that time shows that its sender was awake recently. A
// heartbeat that this host sees for the first time may be old (spec §18).
func (seen Observation) heard(at time.Time, beat Beat, threshold time.Duration) bool {
	age := seen.age(at, beat)
	return !long(age, threshold) && (age != 0 || !seen.sights(at, beat))
}

// grant gives a grace to everyone who needs one, if the operation was silent before the edit. If
// the edit ends the silence, that includes those who are not stale yet: the next observer cannot
// see that there was a silence.
func (e *edit) grant() {
	if !e.before.silent(e.seen) {
		return
	}

	oldest := e.op.StalenessThreshold
	if e.heard || e.seen.Sightings != nil { // an observer takes a heartbeat that it sees for the second time for a recent one
		oldest = twoThirds(oldest)
	}

	for i := range e.op.Supervisors {
		s := &e.op.Supervisors[i]
		if g := e.seen.grace(s.vital(), oldest); s.Status == Alive && g != s.Grace {
			s.Grace, e.changed = g, true
		}
	}

	for i, f := range e.op.Stack {
		if !f.State.Live() {
			continue
		}
		if g := e.seen.grace(f.vital(), oldest); g != f.Grace {
			e.own(i).Grace, e.changed = g, true
		}
	}
}

// silent reports whether there was no recent pass over g, and the observer cannot rule out that it
// slept as well.
func (g Group) silent(seen Observation) bool {
	o := &g.Orchestrator
	return seen.Watch != Awake && (o.Heartbeat.IsZero() ||
		!seen.heard(o.Heartbeat, o.Beat, o.StalenessThreshold))
}

// grant gives a grace to every service that needs one, if the group was silent before the pass.
func (e *groupEdit) grant() {
	if !e.g.silent(e.seen) {
		return
	}

	for i := range e.g.Registry.Services {
		s := &e.g.Registry.Services[i]
		if s.State != StateRunning && s.State != StateShuttingDown {
			continue
		}
		if g := e.seen.grace(s.vital(), twoThirds(e.g.Orchestrator.StalenessThreshold)); g != nil {
			s.Grace = g
		}
	}
}

func (d *decoder) grace() *Grace {
	g := &Grace{}
	d.Object(func(name string) {
		switch name {
		case "of":
			g.Of = d.time()
		case "at":
			g.At = d.time()
		case "beat":
			g.Beat = d.beat(func() *[]Member { return &made(&g.nested).beat })
		default:
			d.unknown(&g.Unknown, name)
		}
	})

	d.require("of", !g.Of.IsZero())
	d.require("at", !g.At.IsZero())
	return g
}

// grace appends nothing for nil.
func (w *encoder) grace(g *Grace) {
	if g == nil {
		return
	}

	w.name("grace")
	w.open('{')
	w.time("of", g.Of)
	w.time("at", g.At)
	w.beat("beat", g.Beat, g.nested.ofBeat())
	w.unknown(g.Unknown)
	w.close('}')
}
