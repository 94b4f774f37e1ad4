package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The types of lines about a queue (spec §38.2).
const (
	lineEnqueued = "enqueued"
	lineAsked    = "asked"
	lineClaimed  = "claimed"
	lineSettled  = "settled"
	lineUnclaim  = "unclaimed"
	lineState    = "taskState"
	lineEnded    = "ended"
	lineHalted   = "halted"
	lineResumed  = "resumed"
	lineGap      = "gap"
)

// Changes returns a line for each thing that has happened to tasks and halts between two looks at a
// queue, oldest first as far as that can be told. Of an attempt that began and ended between them
// it tells both; where it cannot tell, a line of type gap says so.
func Changes(before, after Queue) []observe.Line {
	c := &changes{after: after, at: after.Revision}
	was := make(map[string]*Task, len(before.Tasks))
	for _, t := range before.Tasks {
		was[t.ID] = t
	}

	c.halts(before.Halts, after.Halts)
	c.ends(before, was)
	for _, t := range after.Tasks {
		c.task(was[t.ID], t)
	}
	return c.lines
}

// changes collects lines.
type changes struct {
	after Queue
	at    int64
	lines []observe.Line
}

func (c *changes) add(kind string, at time.Time, write func(w *wire.Writer)) {
	text := wire.Line(func(w *wire.Writer) {
		w.Int("schemaVersion", observe.LineVersion)
		w.Int("revision", c.at)
		w.OptTime("at", at)
		w.String("type", kind)
		w.String("queueId", c.after.ID)
		write(w)
	})
	c.lines = append(c.lines, observe.Line{Revision: c.at, Text: text})
}

func (c *changes) halts(before, after []Halt) {
	same := func(h Halt) func(Halt) bool {
		return func(other Halt) bool {
			return h.By == other.By && h.Reason == other.Reason && h.Automatic == other.Automatic
		}
	}
	tell := func(kind string, h Halt, at time.Time) {
		c.add(kind, at, func(w *wire.Writer) {
			w.String("by", h.By)
			w.String("reason", h.Reason)
		})
	}

	for _, h := range before {
		if !slices.ContainsFunc(after, same(h)) {
			tell(lineResumed, h, time.Time{})
		}
	}
	for _, h := range after {
		if !slices.ContainsFunc(before, same(h)) {
			tell(lineHalted, h, h.At)
		}
	}
}

// ends tells of the tasks that have ended since before.
func (c *changes) ends(before Queue, was map[string]*Task) {
	count := c.after.Counters.Ended() - before.Counters.Ended()
	fresh := c.after.Ended
	if count <= int64(len(fresh)) {
		fresh = fresh[int64(len(fresh))-max(0, count):]
	} else {
		c.add(lineGap, time.Time{}, func(w *wire.Writer) { w.Int("ended", count-int64(len(fresh))) })
	}

	for i := range fresh {
		e := &fresh[i]
		c.attempts(was[e.ID], e.ID, e.Last, nil)
		c.add(lineEnded, e.At, func(w *wire.Writer) {
			w.String("taskId", e.ID)
			w.String("end", string(e.End))
			if d := e.Decision; d != nil {
				w.OptString("by", d.By)
				w.OptString("answer", d.Answer)
			}
		})
	}
}

// task tells what has happened to t, which was before, or nil.
func (c *changes) task(before, t *Task) {
	if before == t {
		return
	}
	if before == nil {
		c.enqueued(t)
	}
	c.attempts(before, t.ID, t.Last, t.Claim)

	if t.Ask != nil {
		return
	}
	was := cmp.Or(stateOf(before), Waiting)
	if settled := before != nil && before.State == Claimed || t.State == Claimed; t.State != was &&
		(!settled || t.State == Dead || t.State == Blocked) {
		c.add(lineState, time.Time{}, func(w *wire.Writer) {
			w.String("taskId", t.ID)
			w.String("to", string(t.State))
			w.OptString("reason", t.Reason)
		})
	}
}

// enqueued tells that t is new. A question is told whole, for those who watch for it.
func (c *changes) enqueued(t *Task) {
	if t.Ask == nil {
		c.add(lineEnqueued, t.EnqueuedAt, func(w *wire.Writer) { w.String("taskId", t.ID) })
		return
	}
	c.add(lineAsked, t.EnqueuedAt, func(w *wire.Writer) {
		w.String("taskId", t.ID)
		w.String("kind", string(t.Ask.Kind))
		w.String("by", t.Ask.Askers[0].Participant)
		w.String("text", t.Ask.Text)
	})
}

func stateOf(t *Task) TaskState {
	if t == nil {
		return ""
	}
	return t.State
}

// attempts tells of the attempts at a task since before: the last one that was settled, and the
// claim that it has now.
func (c *changes) attempts(before *Task, id string, last Attempt, claim *Claim) {
	var known, claimed int64
	if before != nil {
		known = before.Last.Epoch
		if before.Claim != nil {
			claimed = before.Claim.Epoch
		}
	}

	if last.Epoch > known {
		if claimed != 0 && claimed < last.Epoch {
			c.add(lineGap, time.Time{}, func(w *wire.Writer) { w.String("taskId", id) })
		}
		if claimed != last.Epoch {
			c.claimed(id, last.Epoch, nil)
		}
		c.add(lineSettled, time.Time{}, func(w *wire.Writer) {
			w.String("taskId", id)
			w.Int("epoch", last.Epoch)
			w.String("end", string(last.End))
			w.OptInt("status", last.Status)
			w.OptString("reason", last.Reason)
		})
	}
	if claimed > last.Epoch && (claim == nil || claim.Epoch != claimed) {
		c.add(lineUnclaim, time.Time{}, func(w *wire.Writer) {
			w.String("taskId", id)
			w.Int("epoch", claimed)
		})
	}
	if claim != nil && claim.Epoch != claimed {
		c.claimed(id, claim.Epoch, claim)
	}
}

func (c *changes) claimed(id string, epoch int64, claim *Claim) {
	at := time.Time{}
	if claim != nil {
		at = claim.At
	}
	c.add(lineClaimed, at, func(w *wire.Writer) {
		w.String("taskId", id)
		w.Int("epoch", epoch)
		if claim != nil {
			w.String("by", claim.Participant)
		}
	})
}

// Gap returns the line that says that what happened before q is not known.
func Gap(q Queue) observe.Line {
	c := &changes{after: q, at: q.Revision}
	c.add(lineGap, time.Time{}, func(*wire.Writer) {})
	return c.lines[0]
}
