package observe

import (
	"testing"
	"time"
)

// An observer is awake when it has looked for two thirds of the threshold without a pause as long,
// and woken after such a pause.
func TestVigil(t *testing.T) {
	var v Vigil
	if seen := v.Look(Observation{}, 9*time.Second); seen.Watch != Unwatched {
		t.Errorf("without a monotonic clock it is %q", seen.Watch)
	}

	for _, look := range []struct {
		at   int64
		want Watch
	}{
		{1000, Unwatched}, {4000, Unwatched}, {6999, Unwatched}, {7000, Awake}, {13_000, Awake},
		{19_001, Woken}, {25_000, Woken}, {25_001, Awake}, {25_002, Awake},
	} {
		if seen := v.Look(Observation{MonotonicMs: look.at},
			9*time.Second); seen.Watch != look.want {
			t.Errorf("at %d ms it is %q, want %q", look.at, seen.Watch, look.want)
		}
	}
}
