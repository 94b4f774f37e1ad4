package queue

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Alert tells of a halt, or of a dead task (spec §37.6).
type Alert struct {
	Task  string // "": of a halt
	Epoch int64  // of the last attempt at the task

	By, Reason, Details string // of the halt
	Automatic           bool
	At                  time.Time // zero: not known
	Last                Attempt   // at the task
}

// Alerts returns the alerts that were not given yet: those of halts, then those of tasks.
func (q Queue) Alerts() (all []Alert) {
	for _, h := range q.Halts {
		if !h.Alerted {
			all = append(all, Alert{By: h.By, Reason: h.Reason, Details: h.Details,
				Automatic: h.Automatic, At: h.At})
		}
	}
	for _, t := range q.Tasks {
		if t.State == Dead && !t.Alerted {
			all = append(all, Alert{Task: t.ID, Epoch: t.Last.Epoch, At: t.Last.At, Last: t.Last})
		}
	}
	return all
}

// Alerted returns q with a given, if what it tells is still so.
func (q Queue) Alerted(a Alert, seen Seen) (Queue, error) {
	e, err := q.begin("alerted", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	if i := e.q.index(a.Task); i >= 0 {
		if t := e.q.Tasks[i]; t.State == Dead && t.Last.Epoch == a.Epoch && !t.Alerted {
			e.own(i).Alerted = true
		}
	}
	for i, h := range e.q.Halts {
		if a.Task == "" && h.By == a.By && h.Reason == a.Reason && !h.Alerted {
			e.q.Halts = slices.Clone(e.q.Halts)
			e.q.Halts[i].Alerted, e.changed = true, true
		}
	}
	return e.end()
}

// String says what a tells.
func (a Alert) String() string {
	if a.Task == "" {
		return "halted by " + a.By + because(a.Reason)
	}
	return "task " + a.Task + " is dead"
}

// Line returns a as a JSON object in a line, for the command that gives it.
func (a Alert) Line(queueID string) string {
	return wire.Line(func(w *wire.Writer) {
		if a.Task == "" {
			w.String("type", "halted")
			w.String("queueId", queueID)
			w.String("by", a.By)
			w.String("reason", a.Reason)
			w.OptString("details", a.Details)
			w.OptBool("automatic", a.Automatic)
		} else {
			w.String("type", "dead")
			w.String("queueId", queueID)
			w.String("taskId", a.Task)
			w.Int("epoch", a.Epoch)
			w.OptString("end", string(a.Last.End))
			w.OptInt("status", a.Last.Status)
			w.OptString("reason", a.Last.Reason)
			w.OptString("by", a.Last.By)
		}
		w.OptTime("at", a.At)
	})
}

// WorkerFailed returns the alert of a worker that ends because it cannot work, as Line does. It is no
// part of a queue (spec §37.6).
func WorkerFailed(queueID, reason string, at time.Time) string {
	return wire.Line(func(w *wire.Writer) {
		w.String("type", "workerFailed")
		w.String("queueId", queueID)
		w.String("reason", reason)
		w.OptTime("at", at)
	})
}
