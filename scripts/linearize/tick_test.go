package linearize

import (
	"cmp"
	"slices"
)

// A tick is an edit in progress, on a copy of an operation: the steps of spec §4.3.
type tick struct {
	o         operation
	now       int64
	crashed   map[string]bool // when it began
	refreshed map[string]bool
}

// tick is step 1.
func (o operation) tick(c command) *tick {
	t := &tick{o: o, now: c.now, crashed: map[string]bool{}, refreshed: map[string]bool{}}
	t.o.stack, t.o.supervisors = slices.Clone(o.stack), slices.Clone(o.supervisors)
	for _, f := range o.stack {
		t.crashed[f.call] = f.state == "crashed"
	}
	return t
}

// refresh is step 2 for the live frames among own.
func (t *tick) refresh(own func(frame) bool) {
	for i := range t.o.stack {
		if f := &t.o.stack[i]; own(*f) && f.live() {
			f.beat, t.refreshed[f.call] = t.now, true
		}
	}
}

// beat is step 2 for a supervisor.
func (t *tick) beat(id string) {
	s := t.supervisor(id)
	s.beat, s.dead = t.now, false
}

// supervisor returns the entry of a supervisor, which it makes.
func (t *tick) supervisor(id string) *supervisor {
	i, found := slices.BinarySearchFunc(t.o.supervisors, id,
		func(s supervisor, id string) int { return cmp.Compare(s.id, id) })
	if !found {
		t.o.supervisors = slices.Insert(t.o.supervisors, i, supervisor{id: id, beat: t.now})
	}
	return &t.o.supervisors[i]
}

// stale reports whether a heartbeat was too long ago, or is too far in the future.
func (t *tick) stale(beat int64) bool { return max(t.now-beat, beat-t.now) > threshold }

// judge is steps 3 to 6. Frames of lenient, if it is not "", are not stale.
func (t *tick) judge(lenient string) {
	for i := range t.o.supervisors {
		s := &t.o.supervisors[i]
		if s.dead || !t.stale(s.beat) {
			continue
		}
		s.dead = true
		t.crash(func(f frame) bool { return f.supervisor == s.id && !s.keep })
	}

	t.crash(func(f frame) bool { return t.stale(f.beat) && f.participant != lenient })
	fatal := func(f frame) bool { return f.state == "crashed" && !f.contained }
	if (t.o.state == "running" || t.o.state == "aborted") && slices.ContainsFunc(t.o.stack, fatal) {
		t.o.state = "cleanup"
	}
	if t.o.state != "aborted" {
		return
	}

	for i := range t.o.stack {
		if f := &t.o.stack[i]; f.state == "active" && t.refreshed[f.call] {
			f.state = "aborted"
		}
	}

	if !slices.ContainsFunc(t.o.stack, func(f frame) bool { return f.state == "active" }) {
		t.o.state = "cleanup"
	}
}

func (t *tick) crash(which func(frame) bool) {
	for i := range t.o.stack {
		if f := &t.o.stack[i]; f.live() && which(*f) {
			f.state = "crashed"
		}
	}
}

// nobodys reports whether no live supervisor can clean up f.
func (t *tick) nobodys(f frame) bool {
	return !slices.ContainsFunc(t.o.supervisors,
		func(s supervisor) bool { return s.id == f.supervisor && !s.dead })
}

// abandoned reports whether f, which has crashed, waits for no supervisor any more.
func (t *tick) abandoned(f frame) bool {
	return t.nobodys(f) || f.reported != 0 && t.now-f.reported > 10*threshold
}

// end is steps 7 to 9, and the answer of a verb that has changed something.
func (t *tick) end() (operation, answer) {
	had := len(t.o.stack)
	for i := range t.o.stack {
		f := &t.o.stack[i]
		if f.state == "crashed" && t.crashed[f.call] && (t.o.state == "cleanup" || f.contained) &&
			t.abandoned(*f) {
			f.state = "cleanedUp"
		}
	}

	t.o.stack = slices.DeleteFunc(t.o.stack, func(f frame) bool {
		return f.state == "cleanedUp" &&
			f.contained
	})
	for len(t.o.stack) > 0 && t.o.stack[0].state == "cleanedUp" {
		t.o.stack = t.o.stack[1:]
	}

	if len(t.o.stack) == 0 && (t.o.state == "aborted" || t.o.state == "cleanup" ||
		t.o.state == "running" && had > 0) {
		t.o.state = "failed"
	}

	t.o.revision++
	return t.o, t.o.said(true)
}
