package audit

import "testing"

// Kinds of events are known by their own words and by those of others (spec §57).
func TestEventKinds(t *testing.T) {
	t.Parallel()
	for kind, outside := range map[string]string{
		EventClaimed: "TASK_START", EventDone: "TASK_COMPLETE", EventBlocked: "TASK_BLOCKED",
		EventHalted: "HALT", EventCompleted: "COMPLETED", EventDead: "", "denied": "",
	} {
		e := Event{Kind: kind}
		if got := e.Outside(); got != outside {
			t.Errorf("%s: got %q, want %q", kind, got, outside)
		}
		if !IsKind(kind) || !e.Is(kind) || outside != "" && (!IsKind(outside) || !e.Is(outside)) {
			t.Errorf("%s is not known, or not as %q", kind, outside)
		}
		if e.Is("enqueued") {
			t.Errorf("%s is enqueued", kind)
		}
	}
	for _, word := range []string{"", "HALTED", "task_start", "Done"} {
		if IsKind(word) {
			t.Errorf("%q is a kind", word)
		}
	}
}
