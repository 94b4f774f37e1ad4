package invariants

import (
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/group"
)

// A group that breaks an invariant is found out.
func TestBroken(t *testing.T) {
	g := group.Create("g")
	s := group.Service{ID: "s"}
	s.State, s.StartAgain = group.StateScheduled, true
	g.Registry.Services = []group.Service{s}
	want := []string{"a failed service failed", "a scheduled service is due", "only shuttingDown"}
	got := strings.Split(Broken(g), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}

	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}
