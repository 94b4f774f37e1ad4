package protocol

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

var noon = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

// crashedPair returns an operation of two calls, the upper one crashed at noon. pushed has further
// members of that call.
func crashedPair(t *testing.T, pushed Push) Operation {
	t.Helper()
	op, err := Create("op", "", 0, 0).Push(Push{Participant: "a", Call: "below"},
		observe.Observation{Now: noon.Add(-time.Second)})
	if err != nil {
		t.Fatal(err)
	}

	pushed.Participant, pushed.Call, pushed.Resources = "b", "above", []string{"/r", "/s"}
	op, err = op.Push(pushed, observe.Observation{Now: noon.Add(-11 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if op, err = op.Heartbeat(Actor{Participant: "a"}, observe.Report{},
		observe.Observation{Now: noon}); err != nil {
		t.Fatal(err)
	}
	if f := op.Frame("above"); f.State != FrameCrashed || op.State != Cleanup {
		t.Fatalf("the call is %s, the operation %s", f.State, op.State)
	}

	return op
}

// What could not be deleted is recorded with the call: in the stack or, once it has left the stack,
// in its last event.
func TestLeave(t *testing.T) {
	cause := errors.New("read-only file system")
	want := []observe.LeftResource{{Path: "/r", Error: cause.Error()},
		{Path: "/s", Error: cause.Error()}}
	op := crashedPair(t, Push{})

	cleaned, err := op.Cleanup("janitor", observe.Observation{Now: noon})
	if err != nil || cleaned.Frame("above").State != FrameCleanedUp {
		t.Fatalf("%v, %+v", err, cleaned.Frame("above"))
	}

	before := cleaned.Encode()
	left := cleaned.NoteUndeleted("above", "/r", cause).NoteUndeleted("above", "/s", cause)
	if got := left.Frame("above").Crash.LeftResources; !reflect.DeepEqual(got, want) {
		t.Errorf("in the frame: %v, want %v", got, want)
	}
	if cleaned.Encode() != before {
		t.Error("the operation that was given has changed")
	}

	again, err := Decode(left.Encode())
	if err != nil || !reflect.DeepEqual(again.Frame("above").Crash.LeftResources, want) {
		t.Errorf("in the file: %v, %v", again.Frame("above"), err)
	}

	popped, err := op.Pop(Pop{Call: "below"}, observe.Observation{Now: noon})
	if err != nil || len(popped.Stack) > 0 {
		t.Fatalf("%v, %v", err, popped.Stack)
	}

	before = popped.Encode()
	left = popped.NoteUndeleted("above", "/r", cause).NoteUndeleted("above", "/s", cause)
	for _, e := range left.Events {
		if ended := e.Type == observe.CallEnded &&
			e.CallID == "above"; ended != reflect.DeepEqual(e.LeftResources, want) {
			t.Errorf("event %+v", e)
		}
	}

	if popped.Encode() != before {
		t.Error("the operation that was given has changed")
	}
	if got := popped.NoteUndeleted("nobody", "/r", cause).Encode(); got != before {
		t.Errorf("left by no call:\n%s", got)
	}
}

// A temporary directory is begun by the push that asks for it, and ended when the call is.
func TestTemporaryDirectory(t *testing.T) {
	for _, tmp := range []bool{false, true} {
		op, err := Create("op", "", 0, 0).Push(Push{Participant: "a", Call: "c", Tmp: tmp},
			observe.Observation{Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		if begun := reflect.DeepEqual(op.Effects().Begun, []string{"c"}); begun != tmp {
			t.Errorf("asked: %t, begun: %q", tmp, op.Effects().Begun)
		}
		if op, err = op.Pop(Pop{Call: "c"}, observe.Observation{Now: noon}); err != nil ||
			!reflect.DeepEqual(op.Effects().Ended, []string{"c"}) {
			t.Errorf("ended: %q, %v", op.Effects().Ended, err)
		}
	}
}

// Lingering returns the live calls of an operation that has been in cleanup for more than ten
// thresholds.
func TestLingering(t *testing.T) {
	op := crashedPair(t, Push{})
	long := 10 * DefaultStalenessThreshold
	for _, c := range []struct {
		after time.Duration
		want  []string
	}{{0, nil}, {long, nil}, {long + 9, nil}, {long + 10, []string{"below"}}, {long + time.Hour,
		[]string{"below"}}} {
		var got []string
		for _, f := range op.Lingering(noon.Add(c.after)) {
			got = append(got, f.CallID)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v later: %q, want %q", c.after, got, c.want)
		}
	}

	running, _ := chain(t, 1)
	if got := running.Lingering(noon.Add(1e6 * time.Hour)); got != nil {
		t.Errorf("of a running operation: %v", got)
	}

	op.Transitions = nil // as if the state was written by hand
	if got := op.Lingering(noon.Add(1e6 * time.Hour)); got != nil {
		t.Errorf("of an operation that does not say since when: %v", got)
	}
}

// Mortals returns the live calls and supervisors, with a process only if this observer can see its
// end.
func TestMortals(t *testing.T) {
	host := observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"}
	p := observe.Process{PID: 7, HostID: "h", BootID: "b", PIDNamespace: "1", StartTicks: 1}
	op := crashedPair(t, Push{Supervisor: "dead"})
	seen := observe.Observation{Now: noon, Host: host, MonotonicMs: 1000}
	op, err := op.Heartbeat(Actor{Participant: "a", Supervisor: "s", PID: 7, Process: p}, observe.Report{},
		seen)
	if err != nil {
		t.Fatal(err)
	}

	seen.Now, seen.MonotonicMs = noon.Add(time.Hour), 3000
	want := []WatchedProcess{{Process: p, Beats: true, StaleIn: 8 * time.Second},
		{Process: p, Beats: true, StaleIn: 8 * time.Second}}
	if got := op.Mortals(seen); !reflect.DeepEqual(got, want) {
		t.Errorf("here: %+v, want %+v", got, want)
	}

	seen.Look = func(observe.Process) observe.Presence { return observe.Present }
	byProcess := WatchedProcess{Process: p, StaleIn: 8 * time.Second}
	if got := op.Mortals(seen); !reflect.DeepEqual(got, []WatchedProcess{byProcess, byProcess}) {
		t.Errorf("seen to live: %+v, want %+v twice", got, byProcess)
	}
	if seen.Stopped(observe.Vitals{PID: 7, Process: p}) {
		t.Error("it is stopped, and runs")
	}

	seen.IsStopped = func(q observe.Process) bool { return q == p }
	if got := op.Mortals(seen); !reflect.DeepEqual(got, []WatchedProcess{byProcess, byProcess}) ||
		!seen.Stopped(observe.Vitals{PID: 7, Process: p}) ||
		seen.Stopped(observe.Vitals{PID: 8, Process: p}) {
		t.Errorf("stopped: %+v, want %+v twice", got, byProcess)
	}

	elsewhere := WatchedProcess{Beats: true, StaleIn: DefaultStalenessThreshold - time.Hour}
	seen.Host = observe.Host{ID: "other", BootID: "c", PIDNamespace: "1"}
	if got := op.Mortals(seen); !reflect.DeepEqual(got, []WatchedProcess{elsewhere, elsewhere}) {
		t.Errorf("elsewhere: %+v, want %+v twice", got, elsewhere)
	}
}

func TestNoticeInWords(t *testing.T) {
	for want, n := range map[string]observe.Notice{
		"":                 {Readiness: observe.ReadinessReady},
		"warm":             {Readiness: observe.ReadinessReady, Note: "warm"},
		"starting":         {Readiness: observe.ReadinessStarting},
		"stopping: to end": {Readiness: observe.ReadinessStopping, Note: "to end"},
	} {
		if got := n.String(); got != want {
			t.Errorf("%+v: %q, want %q", n, got, want)
		}
	}
}

// Every goal is met, out of reach or pending in every state; no other word is a goal.
func TestGoals(t *testing.T) {
	for _, g := range Goals() {
		for _, s := range []State{Running, Aborted, Cleanup, Completed, Failed} {
			got := Operation{State: s, Aborted: s == Aborted}.Wait(g, 0)
			if got == observe.Pending && s.Terminal() ||
				string(g) == string(s) && got != observe.Met {
				t.Errorf("%s when %s: %s", g, s, got)
			}
		}
	}

	if got := len(Goals()); got != 7 {
		t.Errorf("%d goals, want 7", got)
	}
}
