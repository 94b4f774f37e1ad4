package protocol

import "time"

// A container may be frozen, a machine suspended, a network file system away. Then participants and observers stop together, and
// the first that goes on finds heartbeats that are too old, of participants that only had no chance to send one. So an edit of a
// file in which nobody has been heard of for long judges nobody stale: it grants each a grace, one more threshold. The grace is
// recorded with the heartbeat whose silence it is, so there is one for each silence, however many observers look and however often.

// A Grace is a fresh window for one that is judged by its heartbeats (spec §4.6). Frames and entries share it: it is never changed.
type Grace struct {
	Of      time.Time // the last heartbeat then: with another it no longer counts
	At      time.Time // when it was granted
	Beat    Beat      // of At
	Unknown []Member

	nested *nestedUnknown
}

// A Watch says how an observer that looks at a file again and again has looked at it until now (spec §4.6).
type Watch string

const (
	Unwatched Watch = ""      // not for long yet, or it cannot tell
	Awake     Watch = "awake" // for two thirds of the threshold at least, without a pause as long
	Woken     Watch = "woken" // such a pause has ended less than two thirds of the threshold ago
)

// A Vigil is kept by an observer that looks at a file again and again, at least every half threshold. Its zero value has not
// looked yet.
type Vigil struct {
	since, last int64 // on the monotonic clock, in milliseconds; 0: never
	paused      bool
}

// Look notes that the observer looks at a file with that threshold as seen, and returns seen with how it has watched.
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

// long reports whether age is more than two thirds of threshold, or as far in the future. Heartbeats come every third at least, so
// nobody who was awake until less than that ago is older than threshold because of a pause that has ended now.
func long(age, threshold time.Duration) bool { return stale(age, twoThirds(threshold)) }

func twoThirds(threshold time.Duration) time.Duration { return threshold - threshold/3 }

// counting returns g if it belongs to the silence since heartbeat, else nil.
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

// WindowOf returns when the grace of f is over, as seen; zero if it has none that counts, or that is over, or is not live.
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

// WindowOf is that of an operation, for one that is registered.
func (g Group) WindowOf(s *Service, seen Observation) time.Time {
	if s.State != StateRunning && s.State != StateShuttingDown {
		return time.Time{}
	}
	return seen.window(s.vital(), g.Orchestrator.StalenessThreshold)
}

// window returns when the grace of v is over, by the observer's clock; zero if it holds nobody up.
func (seen Observation) window(v vital, threshold time.Duration) time.Time {
	if !seen.graced(v, threshold) || seen.gone(v.pid, v.process, v.heartbeat) != "" {
		return time.Time{}
	}
	return seen.Now.Add(threshold - seen.age(v.grace.At, v.grace.Beat))
}

// grace returns the grace that v gets from an edit of a file that is silent, or what it has: it gets one if it is judged by its
// heartbeats, the last is older than oldest, and no other grace is of that.
func (seen Observation) grace(v vital, oldest time.Duration) *Grace {
	g := v.grace.counting(v.heartbeat)
	if g != nil || v.heartbeat.IsZero() || !stale(seen.age(v.heartbeat, v.beat), oldest) || !seen.countsHeartbeats(v) ||
		seen.gone(v.pid, v.process, v.heartbeat) != "" {
		return g
	}
	return &Grace{Of: Moment(v.heartbeat), At: seen.Now, Beat: seen.beat()}
}

// silent reports whether nobody in op has been heard of for long, as far as the observer can tell that this is not its own fault.
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

// heard reports whether the heartbeat at that time shows that somebody was awake lately. One that this host sees for the first
// time may have been made long ago (spec §18).
func (seen Observation) heard(at time.Time, beat Beat, threshold time.Duration) bool {
	age := seen.age(at, beat)
	return !long(age, threshold) && (age != 0 || !seen.sights(at, beat))
}

// grant gives a grace to all who need one, if the operation was silent before the edit. If it is not silent after it, these are
// also those who are not stale yet, for the next observer would know nothing of the silence.
func (e *edit) grant() {
	if !e.before.silent(e.seen) {
		return
	}
	oldest := e.op.StalenessThreshold
	if e.heard || e.seen.Sightings != nil { // who sees a heartbeat for the second time takes it for a new one
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

// silent reports whether no pass over g has been made for long, as far as the observer can tell that this is not its own fault.
func (g Group) silent(seen Observation) bool {
	o := &g.Orchestrator
	return seen.Watch != Awake && (o.Heartbeat.IsZero() || !seen.heard(o.Heartbeat, o.Beat, o.StalenessThreshold))
}

// grant gives a grace to all who need one, if the group was silent before the pass.
func (p *pass) grant() {
	if !p.g.silent(p.seen) {
		return
	}
	for i := range p.g.Registry.Services {
		s := &p.g.Registry.Services[i]
		if s.State != StateRunning && s.State != StateShuttingDown {
			continue
		}
		if g := p.seen.grace(s.vital(), twoThirds(p.g.Orchestrator.StalenessThreshold)); g != nil {
			s.Grace = g
		}
	}
}

func (d *decoder) grace() *Grace {
	g := &Grace{}
	d.object(func(name string) {
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
