package trace

import (
	"testing"
	"time"
)

const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// What a program is given is what it is asked to pass on.
func FuzzNormal(f *testing.F) {
	for _, text := range []string{valid, valid[:52] + "-ff", "cc" + valid[2:] + "-more", "", "00-"} {
		f.Add(text)
	}

	f.Fuzz(func(t *testing.T, text string) {
		normal := Normal(text)
		if normal != "" && (len(normal) != len(valid) || Normal(normal) != normal) {
			t.Errorf("%q became %q, and that %q", text, normal, Normal(normal))
		}
		if normal != "" && normal[3:52] != text[3:52] {
			t.Errorf("%q names other spans than %q", normal, text)
		}
	})
}

func TestIDs(t *testing.T) {
	start := time.Date(2026, 1, 20, 10, 30, 5, 0, time.UTC)
	if got, want := SpanID("op-1", "build", start), "4272443cdcf674af"; got != want {
		t.Errorf("span %s, want %s as in push-joins-trace.json", got, want)
	}

	other := SpanID("op-1", "build", start.Add(time.Millisecond))
	if op, id := OperationSpanID("op-1", start), TraceID("op-1", start); len(op) != 16 ||
		len(id) != 32 || id[:16] != op || op == other || other == SpanID("op-1", "build", start) {
		t.Errorf("operation %s, trace %s, call %s", op, id, other)
	}
}
