package work

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/attempt"
)

// fail takes note of a worker that has failed because of why, and claimed nothing that it did not
// give back. Those that fail during the pause that follows have failed with it.
func (w *workers) fail(why string, locked bool) {
	now := time.Now()
	if now.Before(w.rest) {
		return
	}
	w.locked, w.why = locked, strings.TrimPrefix(why, string(w.flags.Queue)+": ")
	if !locked {
		w.failures++
	}
	w.rest = now.Add(attempt.Pause(w.env, max(w.failures, 1)))
}

// lose takes note of the end of a worker.
func (w *workers) lose(b *worker) {
	for i := range w.busy {
		if w.busy[i] == b {
			w.busy = append(w.busy[:i], w.busy[i+1:]...)
			break
		}
	}

	w.next = b.ProcessState.ExitCode() == cli.StatusOK
	r := b.report()
	switch {
	case r.begun():
		w.did, w.failures, w.locked = true, 0, false
	case r.nothing():
	case b.ProcessState.ExitCode() < 0 && r.By == "":
		w.did = true // it was killed, so nobody knows what it has begun
	default:
		w.fail(r.Reason, r.locked())
	}
	if !w.next {
		if q, err := w.ledger.ReadQueue(string(w.flags.Queue)); err == nil {
			w.alerts.start(&q)
		}
	}
}
