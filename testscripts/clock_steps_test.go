package testscripts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A clockCall is a call whose participant may be alive and may send heartbeats.
type clockCall struct {
	id      string
	process observe.Process // zero: only its heartbeats are known
	beaten  time.Duration   // when, on the monotonic clock
	mute    bool            // it no longer sends heartbeats
	promise bool            // it promised to
}

// clockRun is a ledger whose participants beat while the clocks are set.
type clockRun struct {
	t      *testing.T
	w      *clockWorld
	ledger *fileops.Ledger
	calls  []*clockCall
	made   int
}

// TestClockSteps sets the clock by an hour, to 2031 and to 2019, and suspends the machine, while
// participants send heartbeats and a janitor makes passes. No live participant is declared dead.
// One whose process ends is dead at once. One that only stops sending heartbeats, and has no
// process or promised them, is dead once the last one is older than the threshold on the monotonic
// clock (spec §4.2).
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		w := newClockWorld(seed)
		r := &clockRun{t: t, w: w, ledger: newTestLedger(t)}
		r.edit(func(protocol.Operation) (protocol.Operation, error) {
			op := protocol.Create("build", "", protocol.DefaultHeartbeatInterval,
				protocol.DefaultStalenessThreshold)
			return op.Push(protocol.Push{Participant: "cli", Call: "main"}, w.observe())
		})

		for range 200 {
			r.turn()
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, strings.Join(w.story, "\n"))
			}
		}
	}
}

func newTestLedger(t *testing.T) *fileops.Ledger {
	t.Helper()
	l, err := fileops.Create(t.TempDir()+"/ledger", fileops.Config{},
		fileops.Options{Sync: disk.SyncNone})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *clockRun) edit(verb func(op protocol.Operation) (protocol.Operation,
	error)) protocol.Operation {
	r.t.Helper()
	e, err := r.ledger.EditOperation("build", fileops.OrCreate,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			return verb(op)
		})
	if err != nil {
		r.t.Fatalf("%v\n%s", err, strings.Join(r.w.story, "\n"))
	}
	return e.After
}

func (r *clockRun) beat(call string) {
	r.t.Helper()
	r.edit(func(op protocol.Operation) (protocol.Operation, error) {
		return op.Heartbeat(protocol.Actor{Call: call}, observe.Report{}, r.w.observe())
	})
}

// turn lets time pass and an event happen, sends the heartbeats of live participants, and makes a
// janitor's pass. Each heartbeat judges the other participants as well.
func (r *clockRun) turn() {
	r.t.Helper()
	w := r.w
	for len(r.calls) < 4 {
		r.push()
	}

	w.pass(time.Duration(w.rand.IntN(1500)) * time.Millisecond)
	switch c := r.calls[w.rand.IntN(len(r.calls))]; w.rand.IntN(12) {
	case 0, 1, 2:
		w.upset()
	case 3:
		if c.process.Known() {
			w.dead[c.process] = true
			w.tell("%s is killed", c.id)
		}
	case 4:
		c.mute = true
		w.tell("%s beats no more", c.id)
	}

	r.judged(r.edit(func(op protocol.Operation) (protocol.Operation,
		error) {
		return op.Cleanup("janitor", w.observe())
	}))
	r.beat("main")
	for _, c := range r.calls {
		if !c.mute && !w.dead[c.process] {
			r.beat(c.id)
			c.beaten = w.monotonic
		}
	}
}

// push adds a call that leaves the operation running when it crashes.
func (r *clockRun) push() {
	r.made++
	c := &clockCall{id: fmt.Sprint("c", r.made), beaten: r.w.monotonic}
	if r.w.rand.IntN(2) == 0 {
		c.process, c.promise = r.w.start(), r.w.rand.IntN(2) == 0
	}

	r.edit(func(op protocol.Operation) (protocol.Operation, error) {
		return op.Push(protocol.Push{
			Participant: c.id, Call: c.id, PID: c.process.PID, Process: c.process, Contained: true,
			Heartbeats: c.promise,
		}, r.w.observe())
	})

	r.calls = append(r.calls, c)
}

// judged compares the janitor's verdict on each call with what really happened to it, and forgets
// dead ones.
func (r *clockRun) judged(op protocol.Operation) {
	r.t.Helper()
	var left []*clockCall
	for _, c := range r.calls {
		var want observe.Evidence
		switch {
		case r.w.dead[c.process]:
			want = observe.Exited
		case c.process.Known() && !c.promise:
		case r.w.monotonic.Milliseconds()-c.beaten.Milliseconds() > op.StalenessThreshold.Milliseconds():
			want = observe.Stale
		}

		f := op.Frame(c.id)
		switch {
		case f == nil:
			r.t.Errorf("%s is gone before it was seen crashed", c.id)
		case evidenceOf(f) != want || f.State.Live() != (want == ""):
			r.t.Errorf("%s is %s, evidence %q, want %q", c.id, f.State, evidenceOf(f), want)
		}

		if want == "" {
			left = append(left, c)
		}
	}

	if f := op.Frame("main"); f == nil || f.State != protocol.FrameActive ||
		op.State != protocol.Running {
		r.t.Errorf("the operation is %s, its caller %+v", op.State, f)
	}

	r.calls = left
}

func evidenceOf(f *protocol.Frame) observe.Evidence {
	if f.Crash == nil {
		return ""
	}
	return f.Crash.Evidence
}
