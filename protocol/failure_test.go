package protocol

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// failing returns an operation in which main has called cc and ld, and lint, which may fail.
func failing(t *testing.T) Operation {
	cc := observe.Process{PID: 7, HostID: "h", BootID: "b", PIDNamespace: "1", StartTicks: 1}
	lint := cc
	lint.PID = 8
	op := Create("op", "", 0, 0)
	for _, p := range []Push{
		{Participant: "make", Call: "main"},
		{Participant: "tidy", Call: "lint", PID: 8, Process: lint, Contained: true},
		{Participant: "gcc", Call: "cc", PID: 7, Process: cc},
		{Participant: "bfd", Call: "ld"},
	} {
		var err error
		if op, err = op.Push(p, observe.Observation{Now: noon}); err != nil {
			t.Fatal(err)
		}
	}
	return op
}

// What is told of a failure is the call that was its reason, and not another one that ended in the
// same edit.
func TestFailure(t *testing.T) {
	now := observe.Observation{Now: noon}
	op := failing(t)
	if f, failed := op.Failure(); failed {
		t.Errorf("of a running operation: %+v", f)
	}

	gone := now
	gone.Host = observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"}
	gone.Look = func(p observe.Process) observe.Presence {
		if p.PID == 7 || p.PID == 8 {
			return observe.Gone
		}
		return observe.Present
	}

	for name, c := range map[string]struct {
		edit                      func() (Operation, error)
		call, participant, reason string
		crashed                   bool
	}{
		"popped": {func() (Operation, error) {
			return op.Pop(Pop{Call: "cc", Fail: true, Reason: "no disk"}, now)
		}, "cc", "gcc", "call cc: no disk", false},
		"root": {func() (Operation, error) {
			return op.Pop(Pop{Call: "main", Fail: true}, now)
		}, "main", "make", "call main failed", false},
		"aborted": {func() (Operation, error) { return op.Abort("ada", "enough", "", now) },
			"", "", "enough", false},
		"crashed": {func() (Operation, error) { return op.Cleanup("cron", gone) },
			"cc", "gcc", "call cc crashed: exited", true},
	} {
		after, err := c.edit()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f, failed := after.Failure()
		if !failed || f.Call != c.call || f.Participant != c.participant ||
			f.Reason != c.reason || f.Crashed != c.crashed || c.crashed != (f.Crash != nil) ||
			c.crashed != (f.Evidence == "exited") {
			t.Errorf("%s: got %+v", name, f)
		}
	}
}

// The end of a command that is not known has no words.
func TestExitString(t *testing.T) {
	if got := (observe.Exit{}).String(); got != "" {
		t.Errorf("got %q", got)
	}
}
