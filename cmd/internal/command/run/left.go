package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
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
	w.rest = now.Add(w.flags.pause(max(w.failures, 1)))
}

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
		return true, cli.WithStatus(cli.StatusCleanUp, halted(q))
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

// left are the tasks of a queue that are left when nothing is ready, by what is to be said of them.
type left [len(kindsLeft)][]string

// kindsLeft are what is said of tasks that are left, most urgent first.
var kindsLeft = [...]string{"dead", "blocked", "delayed", "held by others", "waiting"}

const (
	leftDead = iota
	leftBlocked
	leftDelayed
	leftHeld
	leftWaiting
)

func leftOf(q queue.Queue, seen queue.Seen) (l left) {
	for _, p := range q.Places(seen) {
		kind := leftWaiting
		switch p.State {
		case queue.Dead:
			kind = leftDead
		case queue.Blocked:
			kind = leftBlocked
		case queue.Claimed:
			kind = leftHeld
		default:
			if len(p.Holds) > 0 && (p.Holds[0].Kind == queue.HeldByTime ||
				p.Holds[0].Kind == queue.HeldByDelay) {
				kind = leftDelayed
			}
		}
		l[kind] = append(l[kind], p.ID)
	}
	return l
}

// comes reports whether something becomes ready by itself: when its time comes, or when the attempt
// of another worker ends.
func (l left) comes(q queue.Queue, seen queue.Seen) bool {
	_, delayed := q.DueIn(seen)
	return delayed || len(l[leftHeld]) > 0
}

// String says how many tasks of each kind are left, or "". It names the only one of a kind.
func (l left) String() string {
	var all []string
	for i, ids := range l {
		text := fmt.Sprintf("%d %s", len(ids), kindsLeft[i])
		if len(ids) == 1 {
			text += " (" + ids[0] + ")"
		}
		if len(ids) > 0 {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// halted says who has halted q, and why.
func halted(q queue.Queue) error {
	var halts []string
	for _, h := range q.Halts {
		text := "halted by " + h.By
		if h.Reason != "" {
			text += ": " + h.Reason
		}
		halts = append(halts, text)
	}
	return fmt.Errorf("%s: dpl-queue %s --resume", strings.Join(halts, "; "), q.ID)
}
