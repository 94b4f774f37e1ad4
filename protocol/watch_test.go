package protocol

import (
	"slices"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Events and transitions written in another order are sorted by revision, each once.
func TestLinesInOrder(t *testing.T) {
	op := Operation{ID: "o"}
	for _, revision := range []int64{3, 1, 2, 4} {
		op.Events = append(op.Events,
			observe.Event{Revision: revision, At: noon, Type: observe.CallEnded})
		op.Transitions = append(op.Transitions, Transition{Revision: revision, At: noon})
	}

	var got []int64
	for _, line := range op.Lines(1) {
		got = append(got, line.Revision)
	}

	if want := []int64{2, 2, 3, 3, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("lines of revisions %v, want %v", got, want)
	}
	if op.Events[0].Revision != 3 || op.Transitions[0].Revision != 3 {
		t.Error("the operation was sorted")
	}
}
