package protocol

import (
	"reflect"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"pgregory.net/rapid"
)

// Properties of every edit of every operation, whatever happens around it.

// checkDecoded checks that decoded is what after was when it was written.
func checkDecoded(t *rapid.T, after, decoded Operation) {
	if canonical(decoded) != canonical(after) ||
		!slices.EqualFunc(after.Stack, decoded.Stack, sameFrame) {
		t.Fatalf("does not survive its file:\n%s\nis:\n%s", canonical(after), canonical(decoded))
	}
}

// sameFrame reports whether all that is known of a and b is equal.
func sameFrame(a, b *Frame) bool {
	f, g := *a, *b
	f.source, f.decoded, f.piece.Start, f.piece.End, f.Notice = nil, nil, 0, 0, observe.Notice{}
	g.source, g.decoded, g.piece.Start, g.piece.End, g.Notice = nil, nil, 0, 0, observe.Notice{}
	return a.Said() == b.Said() && reflect.DeepEqual(f, g)
}

// checkEdit checks what holds for any edit of any operation.
func (m *machine) checkEdit(t *rapid.T, v *verb, before, after Operation) {
	same := after
	same.Revision = before.Revision
	equal := canonical(same) == canonical(before)

	switch {
	case after.Revision == before.Revision:
		if !equal || v.always {
			t.Fatalf("the revision did not grow:\n%s\nwas:\n%s", after.Encode(), before.Encode())
		}
		return
	case after.Revision != before.Revision+1, equal && !v.always:
		t.Fatalf("revision %d follows %d, equal: %t", after.Revision, before.Revision, equal)
	}

	if before.State.Terminal() {
		m.counted++
		same.TerminalHeartbeats--
		if !v.counts || after.TerminalHeartbeats != m.counted ||
			canonical(same) != canonical(before) {
			t.Fatalf("a terminal operation changed:\n%s\nwas:\n%s", after.Encode(), before.Encode())
		}
		return
	}

	if before.Aborted && !after.Aborted || after.State == Aborted && !after.Aborted {
		t.Fatal("aborted was reset")
	}
	if after.State.Terminal() && (len(after.Stack) > 0 || !after.TerminalAt.Equal(v.at.wall) ||
		after.TerminalHeartbeats != 0) {
		t.Fatalf("%s with calls, or without a beginning of the countdown", after.State)
	}

	checkFrames(t, before, after)
	checkTransitions(t, v, before, after)
	checkEvents(t, before, after)
	checkEffects(t, before, after)
}

func checkFrames(t *rapid.T, before, after Operation) {
	checkTree(t, after)
	checkSpans(t, before, after)
	at := 0
	for i, g := range after.Stack {
		f := before.Frame(g.CallID)
		if left(before, after, g.CallID) == nil {
			f = nil
		}
		if f != nil && !f.State.Live() && g.State.Live() {
			t.Fatalf("call %s came back to life", f.CallID)
		}
		if f != nil && f.CallerID != g.CallerID {
			t.Fatalf("call %s of %q has become one of %q", f.CallID, f.CallerID, g.CallerID)
		}

		if f != nil {
			j := before.index(g.CallID)
			if j < at {
				t.Fatalf("call %s has moved down the stack", g.CallID)
			}
			at = j
		}

		if f == nil && i != len(after.Stack)-1 {
			t.Fatalf("call %s came below another", g.CallID)
		}
		if g.State == FrameCrashed && g.FailOnCrash &&
			(after.State == Running || after.State == Aborted) {
			t.Fatalf("call %s crashed and the state is %s", g.CallID, after.State)
		}
		if g.State == FrameCleanedUp && (i == 0 || !g.FailOnCrash) {
			t.Fatalf("call %s is cleaned up and still there", g.CallID)
		}
		if g.Crash == nil != g.State.Live() {
			t.Fatalf("call %s is %s, crash %v", g.CallID, g.State, g.Crash)
		}
	}
}

// left returns the frame that after has of a call, unless the edit has put it in the place of one
// that was dead.
func left(before, after Operation, call string) *Frame {
	ended := false
	for _, e := range after.Events {
		if e.Revision > before.Revision && e.CallID == call {
			if ended && e.Type == observe.CallStarted {
				return nil
			}
			ended = ended || e.Type == observe.CallEnded
		}
	}
	return after.Frame(call)
}

// checkTree finds every call below one that is lower in the stack: the tree has no cycle.
func checkTree(t *rapid.T, op Operation) {
	for i, caller := range op.Callers() {
		if caller < -1 || caller >= i {
			t.Fatalf("call %d hangs below call %d", i, caller)
		}
	}
}

// checkSpans finds a span for each traced call that is gone, and no other.
func checkSpans(t *rapid.T, before, after Operation) {
	var want, got []string
	for _, f := range before.Stack {
		if f.Traceparent != "" && left(before, after, f.CallID) == nil {
			want = append(want, f.CallID)
		}
	}
	for _, s := range after.Spans[len(before.Spans):] {
		got = append(got, s.CallID)
	}

	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("spans of %q, but %q are gone", got, want)
	}
}

// next is which state may follow which.
var next = map[State][]State{
	Running: {Aborted, Cleanup, Completed, Failed},
	Aborted: {Cleanup, Failed},
	Cleanup: {Failed},
}

func checkTransitions(t *rapid.T, v *verb, before, after Operation) {
	old := len(before.Transitions)
	if len(after.Transitions) < old || old > 0 &&
		!reflect.DeepEqual(after.Transitions[:old], before.Transitions) {
		t.Fatalf("a transition is lost: %v, were %v", after.Transitions, before.Transitions)
	}

	state := before.State
	for _, change := range after.Transitions[old:] {
		if change.Revision != after.Revision || change.From != state ||
			!slices.Contains(next[state], change.To) || !change.At.Equal(v.at.wall) ||
			change.Reason == "" {
			t.Fatalf("%+v in revision %d of an operation that is %s", change, after.Revision, state)
		}
		allAborted := change.From == Aborted &&
			!slices.ContainsFunc(after.Stack, func(f *Frame) bool { return f.State == FrameActive })
		if change.To == Cleanup && !v.fails && !allAborted && !crashedBadly(before, after) {
			t.Fatalf("%+v for no reason", change)
		}
		state = change.To
	}

	if state != after.State {
		t.Fatalf("it is %s, and its transitions end in %s", after.State, state)
	}
}

// crashedBadly reports whether a call crashed that fails its operation.
func crashedBadly(before, after Operation) bool {
	crashed := newlyCrashed(before, after)
	return slices.ContainsFunc(before.Stack, func(f *Frame) bool {
		return f.FailOnCrash && (f.State == FrameCrashed || slices.Contains(crashed, f.CallID))
	})
}

// checkEvents derives the current state from the old one and the new events.
func checkEvents(t *rapid.T, before, after Operation) {
	first := slices.IndexFunc(after.Events,
		func(e observe.Event) bool { return e.Revision == after.Revision })
	if first < 0 {
		first = len(after.Events)
	}

	lost := len(before.Events) - first
	if len(after.Events) > observe.MaxEvents || lost < 0 ||
		lost > 0 && len(after.Events) != observe.MaxEvents ||
		first > 0 && !reflect.DeepEqual(after.Events[:first], before.Events[lost:]) {
		t.Fatalf("%d events, of which %d are new, after %d", len(after.Events),
			len(after.Events)-first, len(before.Events))
	}

	told := states(before)
	for _, e := range after.Events[first:] {
		key := string(e.Type)[:4] + e.CallID + e.SupervisorID
		if e.CallID != "" {
			key = e.CallID
		}
		if e.Type == observe.CallReadiness {
			key += " says"
		}
		if e.Revision != after.Revision || told[key] != e.From && e.Type != observe.CallStarted {
			t.Fatalf("%+v, but it was %q", e, told[key])
		}

		told[key] = e.To
		switch f := after.Frame(e.CallID); {
		case e.Type == observe.CallStarted:
			told[key+" says"] = string(f.Said().Readiness)
		case e.Type == observe.CallEnded:
			delete(told, key)
			delete(told, key+" says")
		}
	}

	if now := states(after); !reflect.DeepEqual(told, now) {
		t.Fatalf("the events tell of %v, it is %v", told, now)
	}
}

// states returns the states of calls and supervisors, and the reports of calls, according to the
// events.
func states(op Operation) map[string]string {
	all := make(map[string]string)
	for _, f := range op.Stack {
		all[f.CallID], all[f.CallID+" says"] = string(f.State), string(f.Said().Readiness)
	}
	for _, s := range op.Supervisors {
		all["supe"+s.ID] = string(s.Status)
	}
	return all
}

// checkEffects checks that the resources of each crashed call are released exactly when it stops
// being crashed, that directories go when no one needs them, and that only heartbeats may be lost.
func checkEffects(t *rapid.T, before, after Operation) {
	effects := after.Effects()
	crashed := newlyCrashed(before, after)
	for _, f := range before.Stack {
		g := left(before, after, f.CallID)
		was := f.State == FrameCrashed || slices.Contains(crashed, f.CallID)
		goes := was && (g == nil || g.State == FrameCleanedUp)
		if has := slices.ContainsFunc(effects.Released,
			func(r Release) bool { return r.CallID == f.CallID }); has != goes {
			t.Fatalf("the resources of %s go: %t, want %t", f.CallID, has, goes)
		}

		ends := goes || f.State.Live() && g == nil
		if has := slices.Contains(effects.Ended, f.CallID); has != ends {
			t.Fatalf("the directory of %s goes: %t, want %t", f.CallID, has, ends)
		}
	}

	if effects.BeatOnly && (withoutBeats(after) != withoutBeats(before) ||
		graces(after) > graces(before)) {
		t.Fatalf("a power cut may take more than heartbeats:\n%s\nwas:\n%s", after.Encode(),
			before.Encode())
	}
}

// graces returns how many fresh windows count in op.
func graces(op Operation) (n int) {
	for _, f := range op.Stack {
		if f.Counting().Grace != nil {
			n++
		}
	}

	for _, s := range op.Supervisors {
		if s.Counting().Grace != nil {
			n++
		}
	}

	return n
}

// withoutBeats returns the text of op without heartbeats and their members, and without processes
// that do not count.
func withoutBeats(op Operation) string {
	var zero Operation
	op.Revision, op.LastHeartbeat = 0, zero.LastHeartbeat
	op.Stack = slices.Clone(op.Stack)

	for i, f := range op.Stack {
		g := *f
		g.Process = g.Counting().Process
		g.LastHeartbeat, g.Beat, g.Grace = zero.LastHeartbeat, observe.Beat{}, nil
		op.Stack[i] = &g
	}

	op.Supervisors = slices.Clone(op.Supervisors)
	for i := range op.Supervisors {
		s := &op.Supervisors[i]
		s.LastHeartbeat, s.Beat, s.Grace = zero.LastHeartbeat, observe.Beat{}, nil
	}
	return canonical(op)
}
