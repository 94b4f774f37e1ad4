package queue

import "testing"

// The id of an attempt's operation can be taken apart, whatever the id of its queue.
func TestParseAttemptID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		queue, task, suffix string
		epoch               int64
	}{
		{"q", "t", "", 1}, {"a.b.1", "t-1", "", 12}, {"mail.x", "k:2_", "-again-1", 3},
	} {
		op := AttemptID(c.queue, c.task, c.epoch) + c.suffix
		queueID, task, epoch, ok := ParseAttemptID(op)
		if !ok || queueID != c.queue || task != c.task || epoch != c.epoch {
			t.Errorf("%s: got %q, %q, %d, %v", op, queueID, task, epoch, ok)
		}
	}

	for _, op := range []string{"", ".", "..", "q", "q.t", "q.t.", "q.t.0", "q.t.-1", "q.t.x", ".t.1",
		"q..1", "-.t.1", "q.t.1.x"} {
		if queueID, task, epoch, ok := ParseAttemptID(op); ok {
			t.Errorf("%s: got %q, %q, %d", op, queueID, task, epoch)
		}
	}
}
