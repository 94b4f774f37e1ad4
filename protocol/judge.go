package protocol

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Judge returns the evidence that the participant of f is dead, or "" (spec §4.2), and the age of
// its heartbeat.
func (op Operation) Judge(f *Frame, seen observe.Observation) (observe.Evidence, time.Duration) {
	return seen.Judge(f.Vitals, op.StalenessThreshold)
}

// JudgeSupervisor is Judge for a supervisor.
func (op Operation) JudgeSupervisor(
	s Supervisor, seen observe.Observation,
) (observe.Evidence, time.Duration) {
	return seen.Judge(s.Vitals, op.StalenessThreshold)
}

// WindowOf returns the end of the grace of f. It returns zero if f is not live or has no grace
// left.
func (op Operation) WindowOf(f *Frame, seen observe.Observation) time.Time {
	if !f.State.Live() {
		return time.Time{}
	}
	return seen.Window(f.Vitals, op.StalenessThreshold)
}

// WindowOfSupervisor is WindowOf for a supervisor.
func (op Operation) WindowOfSupervisor(s Supervisor, seen observe.Observation) time.Time {
	if s.Status != Alive {
		return time.Time{}
	}
	return seen.Window(s.Vitals, op.StalenessThreshold)
}

// silent reports whether op shows no recent heartbeat at all, and the observer cannot rule out that
// it slept as well.
func (op Operation) silent(seen observe.Observation) bool {
	if seen.Watch == observe.Awake {
		return false
	}

	heard := func(v *observe.Vitals) bool {
		return seen.Heard(v.LastHeartbeat, v.Beat, op.StalenessThreshold)
	}
	for _, f := range op.Stack {
		if heard(&f.Vitals) {
			return false
		}
	}
	for i := range op.Supervisors {
		if heard(&op.Supervisors[i].Vitals) {
			return false
		}
	}

	return true
}

// grant gives a grace to everyone who needs one, if the operation was silent before the edit. If
// the edit ends the silence, that includes those who are not stale yet: the next observer cannot
// see that there was a silence.
func (e *edit) grant() {
	if !e.before.silent(e.seen) {
		return
	}

	oldest := e.op.StalenessThreshold
	// With sightings, an observer takes a heartbeat that it sees for the second time for a recent
	// one.
	if e.heard || e.seen.Sightings != nil {
		oldest = observe.TwoThirds(oldest)
	}

	for i := range e.op.Supervisors {
		s := &e.op.Supervisors[i]
		if g := e.seen.Grant(s.Vitals, oldest); s.Status == Alive && g != s.Grace {
			s.Grace, e.changed = g, true
		}
	}

	for i, f := range e.op.Stack {
		if !f.State.Live() {
			continue
		}
		if g := e.seen.Grant(f.Vitals, oldest); g != f.Grace {
			e.own(i).Grace, e.changed = g, true
		}
	}
}

// Times calls sight with each time in op whose age matters, and its beat.
func (op Operation) Times(sight func(at time.Time, beat observe.Beat)) {
	if len(op.Stack) == 0 { // only then its age matters
		sight(op.LastHeartbeat, observe.Beat{})
	}

	for _, f := range op.Stack {
		f.Times(sight)
		if f.Crash != nil {
			sight(f.Crash.ReportedAt, f.Crash.ReportedBeat)
			if h := f.Crash.HandlingBy; h != nil {
				sight(h.At, observe.Beat{})
			}
		}
	}

	for i := range op.Supervisors {
		op.Supervisors[i].Times(sight)
	}
}
