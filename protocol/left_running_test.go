package protocol

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// The first failure is reported. Completing is no failure.
func TestLeftRunning(t *testing.T) {
	at := observe.Observation{Now: noon}
	op, err := Create("op", "", 0, 0).Push(Push{Participant: "a", Call: "c"}, at)
	if err != nil {
		t.Fatal(err)
	}
	if got, left := op.LeftRunning(); left {
		t.Errorf("of a running operation: %+v", got)
	}

	completed, err := op.Pop(Pop{Call: "c"}, at)
	if err != nil {
		t.Fatal(err)
	}
	if got, left := completed.LeftRunning(); left {
		t.Errorf("of a completed operation: %+v", got)
	}

	aborted, err := op.Abort("b", "enough", "", at)
	if err != nil {
		t.Fatal(err)
	}

	failed, err := aborted.Pop(Pop{Call: "c", Fail: true, Reason: "bad"}, at)
	if err != nil {
		t.Fatal(err)
	}
	if got, left := failed.LeftRunning(); !left || got.To != Aborted || got.Reason != "enough" {
		t.Errorf("of an operation that was aborted and then failed: %+v, %v", got, left)
	}
}
