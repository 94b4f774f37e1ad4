package protocol

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// walk makes random verbs and checks after each what must hold whatever happens.
type walk struct {
	t    *testing.T
	rand *rand.Rand
	op   Operation
	now  time.Time
	dead map[int]bool // processes that have exited
	trip []string     // what was done, for the message of a failure
}

var here = Host{ID: "host", BootID: "boot", PIDNamespace: "1"}

func (w *walk) seen() Observation {
	return Observation{
		Now: w.now, Host: here, MonotonicMs: w.now.UnixMilli(),
		Exited: func(p Process) bool { return w.dead[p.PID] },
	}
}

func (w *walk) one(words ...string) string { return words[w.rand.IntN(len(words))] }

func (w *walk) participant() string { return w.one("a", "b", "c") }
func (w *walk) call() string        { return w.one("1", "2", "3", "4", "5") }
func (w *walk) supervisor() string  { return w.one("s", "t") }

func (w *walk) process() (int, Process) {
	if w.rand.IntN(2) == 0 {
		return 0, Process{}
	}
	pid := 1 + w.rand.IntN(4)
	if w.dead[pid] {
		return 0, Process{}
	}
	return pid, Process{PID: pid, HostID: here.ID, BootID: here.BootID, PIDNamespace: here.PIDNamespace, StartTicks: 1}
}

// verb makes one random verb. heartbeat says that it was one that is always an edit.
func (w *walk) verb() (name string, after Operation, err error, heartbeat bool) {
	pid, process := w.process()
	seen := w.seen()
	switch w.rand.IntN(12) {
	case 0, 1, 2:
		p := Push{Participant: w.participant(), Call: w.call(), PID: pid, Process: process, Contained: w.rand.IntN(4) == 0, Resources: []string{"/r"}}
		if w.rand.IntN(2) == 0 {
			p.Supervisor, p.OrphanPolicy = w.supervisor(), OrphanPolicy(w.one("", "crash", "keep"))
		}
		after, err = w.op.Push(p, seen)
		return fmt.Sprintf("push %+v", p), after, err, false
	case 3, 4:
		a := Actor{Participant: w.participant(), PID: pid, Process: process}
		after, err = w.op.Heartbeat(a, Saying{Cleaning: w.rand.IntN(5) == 0}, seen)
		return fmt.Sprintf("beat %+v", a), after, err, true
	case 5:
		a := Actor{Supervisor: w.supervisor(), PID: pid, Process: process}
		after, err = w.op.Heartbeat(a, Saying{}, seen)
		return fmt.Sprintf("beat %+v", a), after, err, true
	case 6:
		p := Pop{Call: w.call(), Fail: w.rand.IntN(4) == 0, KeepOpen: w.rand.IntN(4) == 0}
		after, err = w.op.Pop(p, seen)
		return fmt.Sprintf("pop %+v", p), after, err, true
	case 7:
		if w.rand.IntN(4) > 0 {
			return "nothing", w.op, nil, false
		}
		after, err = w.op.Abort("user", "", seen)
		return "abort", after, err, false
	case 8:
		after, err = w.op.Ack(Actor{Supervisor: w.supervisor()}, []string{w.call()}, seen)
		return "ack", after, err, false
	case 9:
		after, _, err = w.op.Claim(Actor{Supervisor: w.supervisor(), PID: pid, Process: process}, seen)
		return "claim", after, err, true
	case 10:
		after, err = w.op.Unclaim(w.supervisor(), []string{w.call()}, seen)
		return "unclaim", after, err, true
	}
	after, err = w.op.Cleanup("janitor", seen)
	return "cleanup", after, err, false
}

func (w *walk) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\nafter %d steps:\n%q\nfile:\n%s", fmt.Sprintf(format, args...), len(w.trip), w.trip, w.op.Encode())
}

// check compares an operation with the one before it.
func (w *walk) check(before, after Operation, err error, heartbeat bool) {
	w.t.Helper()
	switch {
	case err != nil:
		if !reflect.DeepEqual(before, after) {
			w.fail("refused with %v, but changed", err)
		}
		return
	case after.Revision == before.Revision:
		if heartbeat || after.Encode() != before.Encode() {
			w.fail("the revision did not grow")
		}
		return
	case after.Revision != before.Revision+1:
		w.fail("revision %d follows %d", after.Revision, before.Revision)
	}
	if before.State.Terminal() && (after.State != before.State || len(after.Stack) > 0) {
		w.fail("a terminal operation changed")
	}
	if after.State.Terminal() && (len(after.Stack) > 0 || after.TerminalAt.IsZero()) {
		w.fail("terminal with calls, or without a time")
	}
	if before.Aborted && !after.Aborted || after.State == Aborted && !after.Aborted {
		w.fail("aborted was reset")
	}
	if order := []State{Running, Aborted, Cleanup, Completed, Failed}; slices.Index(order, after.State) < slices.Index(order, before.State) {
		w.fail("the state went back from %s to %s", before.State, after.State)
	}
	for _, f := range before.Stack {
		g := after.Frame(f.CallID)
		if g != nil && !f.State.Live() && g.State.Live() {
			w.fail("call %s came back to life", f.CallID)
		}
	}
	for i, f := range after.Stack {
		if f.State == FrameCrashed && f.FailOnCrash && (after.State == Running || after.State == Aborted) {
			w.fail("call %s crashed and the state is %s", f.CallID, after.State)
		}
		if i == 0 && f.State == FrameCleanedUp {
			w.fail("the root is cleaned up and still there")
		}
		if f.Crash == nil != f.State.Live() {
			w.fail("call %s is %s, crash %v", f.CallID, f.State, f.Crash)
		}
	}
	w.checkReleased(before, after)
	decoded, err := Decode(after.Encode())
	if err != nil || canonical(decoded) != canonical(after) {
		w.fail("does not survive its file: %v", err)
	}
	w.op = decoded
}

// checkReleased checks that the resources of each call that crashed go exactly when it stops being crashed.
func (w *walk) checkReleased(before, after Operation) {
	w.t.Helper()
	for _, r := range after.Effects().Released {
		f := before.Frame(r.CallID)
		if g := after.Frame(r.CallID); f == nil || f.State == FrameCleanedUp || g != nil && g.State != FrameCleanedUp {
			w.fail("the resources of %s went", r.CallID)
		}
	}
	for _, f := range before.Stack {
		if g := after.Frame(f.CallID); f.State == FrameCrashed && (g == nil || g.State == FrameCleanedUp) &&
			!slices.ContainsFunc(after.Effects().Released, func(r Release) bool { return r.CallID == f.CallID }) {
			w.fail("the resources of %s stayed", f.CallID)
		}
	}
}

// drain lets everybody die, and a janitor come by: whatever the state, the operation is archived after a few passes.
func (w *walk) drain() {
	w.t.Helper()
	if len(w.op.Stack) == 0 && w.op.State == Running {
		w.now = w.now.Add(2 * abandonedAfter)
	}
	w.now = w.now.Add(20 * time.Second)
	for range 5 {
		after, err := w.op.Cleanup("janitor", w.seen())
		if errors.Is(err, ErrExpired) {
			return
		}
		w.check(w.op, after, err, false)
		w.op = after
		w.now = w.now.Add(time.Second)
	}
	w.fail("5 passes have not archived it")
}

func TestRandomWalks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		w := &walk{t: t, rand: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(1_700_000_000, 0).UTC(), dead: map[int]bool{}}
		w.op, _ = Create("walk", 0, 0).Push(Push{Participant: "a", Call: "1", Resources: []string{"/r"}}, w.seen())
		for range 40 {
			w.now = w.now.Add(time.Duration(w.rand.IntN(4000)) * time.Millisecond)
			if w.rand.IntN(15) == 0 {
				w.dead[1+w.rand.IntN(4)] = true
			}
			before := w.op
			name, after, err, heartbeat := w.verb()
			w.trip = append(w.trip, fmt.Sprintf("%s %s: %v", w.now.Format("04:05.000"), name, err))
			if errors.Is(err, ErrExpired) {
				break
			}
			w.op = after
			w.check(before, after, err, heartbeat)
		}
		w.drain()
	}
}
