package work

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/attempt"
	"github.com/dpl-project/dpl/protocol/queue"
)

// gaveUp reports whether no more workers are started, because so many have failed in a row, or
// because one has waited for the lock of the queue for as long as it may.
func (w *workers) gaveUp() bool {
	return w.failures >= mostFailures || w.locked && !w.flags.Follow
}

// over reports whether there is nothing left to do, and returns the error for the exit status then.
func (w *workers) over(q queue.Queue) (bool, error) {
	switch {
	case len(w.busy) > 0:
		return false, nil
	case w.told != 0:
		return true, cli.Exit(128 + int(w.told))
	case w.failures >= mostFailures:
		w.alerts.failed(w.why, w.env.Now())
		return true, cli.WithStatus(cli.StatusOwn, fmt.Errorf(
			"%d workers in a row have failed, and have given back what they had claimed: %s",
			mostFailures, w.why))
	case w.locked && !w.flags.Follow:
		return true, cli.WithStatus(cli.StatusBusy, errors.New(
			"tasks are ready, but the queue could not be edited in time: "+w.why))
	}

	verdict := q.Verdict()
	switch {
	case w.flags.Follow:
		return verdict == queue.NothingToCome, cli.Exit(cli.StatusOver)
	case verdict == queue.VerdictHalted:
		return true, cli.WithStatus(cli.StatusCleanUp, attempt.Halted(q))
	}

	seen := w.ledger.ObserveQueue(q, w.env.Observer()())
	if passed, err := q.Pass(seen); err == nil && (passed.Revision != q.Revision ||
		passed.CountReady(seen, 1) > 0) || q.Returning(seen) {
		return false, nil // after a pause
	}
	left := leftOf(q, seen)
	if w.flags.UntilDone && left.comes(q, seen) {
		return false, nil
	}
	if text := left.String(); text != "" && (w.did || w.flags.UntilDone) {
		return true, cli.WithStatus(cli.StatusFalse, fmt.Errorf("%s: dpl-status --queue %s", text, q.ID))
	}
	return true, nil
}
