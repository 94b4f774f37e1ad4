package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// operationOf returns one of calls, each CALL or CALL<CALLER, and of events about their starts.
func operationOf(calls, started string) (op Operation) {
	for _, word := range strings.Fields(calls) {
		call, caller, _ := strings.Cut(word, "<")
		op.Stack = append(op.Stack, &Frame{CallID: call, CallerID: caller})
	}

	for _, word := range strings.Fields(started) {
		call, caller, _ := strings.Cut(word, "<")
		op.Events = append(op.Events,
			observe.Event{Type: observe.CallStarted, CallID: call, CallerID: caller},
			observe.Event{Type: observe.CallState, CallID: call})
	}

	return op
}

func TestCallers(t *testing.T) {
	for _, c := range []struct {
		name, calls, started string
		want                 []int
	}{
		{"no call", "", "", []int{}},
		{"nothing names a caller", "a b c", "a b c", []int{-1, 0, 1}},
		{"siblings, one of them with a callee", "a b<a c<a d<b", "", []int{-1, 0, 0, 1}},
		{"two roots", "a b<a c", "", []int{-1, 0, -1}},
		{"only an event names a caller", "a b", "a b gone<a", []int{-1, -1}},
		{"the caller has been popped", "a b<a d<c", "a b<a c<b d<c", []int{-1, 0, 1}},
		{"its caller, too", "a e<d", "a b<a c<b d<c e<d", []int{-1, 0}},
		{"nobody knows whom it called for", "a b<a d<c", "", []int{-1, 0, 0}},
		{"the popped caller was a root", "a b<a d<c", "a b<a c d<c", []int{-1, 0, 0}},
		{"the lowest one's has been popped", "b<a c<a", "a b<a c<a", []int{-1, 0}},
		{"another call has the id of the caller now", "a b<a d<c c<b", "a b<a c<a d<c c<b",
			[]int{-1, 0, 0, 1}},
		{"it calls itself", "a b<b", "a b<b", []int{-1, 0}},
		{"they call each other", "a b<c c<b", "b<c c<b", []int{-1, 0, 1}},
	} {
		if got := operationOf(c.calls, c.started).Callers(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
