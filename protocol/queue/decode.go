package queue

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// source is the text that a queue was decoded from, so that what did not change is copied.
type source struct{ text string }

// Decode returns the queue in text, the content of a queue file (spec §33). Its errors are those of
// wire.Decode.
func Decode(text string) (Queue, error) { return wire.Decode(text, 0, readQueue) }

func readQueue(r *wire.Reader) Queue {
	q, src := Create(""), &source{text: r.Text()}
	r.Object(func(name string) {
		switch name {
		case "$schema":
			q.Schema = r.String()
		case "protocolVersion":
			q.ProtocolVersion = r.Version()
		case "queueId":
			q.ID = readQueueID(r)
		case "revision":
			q.Revision = r.Revision()
		case "policy":
			q.Policy.read(r)
		case "goal":
			q.Goal = readGoal(r)
		case "halts":
			q.Halts = wire.ReadAll(r, (*Halt).read)
		case "permits":
			q.Permits = Permits{true, r.Int(0)}
		case "closed":
			q.Closed = r.Bool()
		case "removed":
			q.Removed = r.Bool()
		case "lastSeq":
			q.LastSeq = r.Revision()
		case "lastEpoch":
			q.LastEpoch = r.Revision()
		case "deadSinceResume":
			q.Dead = r.Int(0)
		case "failuresInRow":
			q.Failures = r.Int(0)
		case "counters":
			q.Counters.read(r)
		case "tasks":
			q.Tasks = readTasks(r, src)
		case "ended":
			q.Ended = readEnded(r, src)
		case "audit":
			q.Audit.Record(r.Codec())
			if q.Audit.Off { // it means nothing here: the record is always on (spec §52)
				q.Audit.Off = false
				q.Audit.Unknown = append(q.Audit.Unknown, wire.Member{Name: "off", Value: "true"})
			}
		default:
			r.Unknown(&q.Unknown, name)
		}
	})

	r.Require("queueId", "policy", "tasks")
	if seq, epoch := q.highest(); seq > q.LastSeq {
		r.FailMember(r.Offset(), "lastSeq", wire.ErrCorrupt, "a task has %d", seq)
	} else if epoch > q.LastEpoch {
		r.FailMember(r.Offset(), "lastEpoch", wire.ErrCorrupt, "an attempt has %d", epoch)
	}
	q.source = src
	return q
}

// highest returns the highest seq and the highest epoch of q. Others above those that q counts
// would be given twice.
func (q Queue) highest() (seq, epoch int64) {
	for _, t := range q.Tasks {
		seq, epoch = max(seq, t.Seq), max(epoch, t.Last.Epoch)
		if t.Claim != nil {
			epoch = max(epoch, t.Claim.Epoch)
		}
	}
	for _, e := range q.Ended {
		epoch = max(epoch, e.Last.Epoch)
	}
	return seq, epoch
}

func (p *Policy) read(r *wire.Reader) {
	*p = Policy{OnDeadDependency: DependencyWait}
	r.Object(func(name string) {
		switch name {
		case "slots":
			p.Slots = r.Int(0)
		case "maxAttempts":
			p.MaxAttempts = r.Int(1)
		case "backoffMs":
			r.Array(func() { p.Backoff = append(p.Backoff, r.Milliseconds(0)) })
		case "onDeadDependency":
			p.OnDeadDependency = wire.ReadWord(r, "onDeadDependency", DependencyPolicy.Valid)
		case "haltOn":
			r.Array(func() { p.HaltOn = append(p.HaltOn, readHaltRule(r)) })
		case "depth":
			p.Depth = r.Int(0)
		case "ageAfterMs":
			p.AgeAfter = r.Milliseconds(0)
		case "rememberForMs":
			p.RememberFor = r.Milliseconds(0)
		default:
			r.Unknown(&p.Unknown, name)
		}
	})
	r.Require("maxAttempts", "rememberForMs")
}

func readHaltRule(r *wire.Reader) HaltRule {
	rule, err := ParseHaltRule(r.String())
	if err != nil {
		r.Refuse("%v", err)
	}
	return rule
}

func readGoal(r *wire.Reader) *Goal {
	g := &Goal{}
	r.Object(func(name string) {
		switch name {
		case "description":
			g.Description = r.String()
		case "completed":
			g.Completed = r.Bool()
		default:
			r.Unknown(&g.Unknown, name)
		}
	})
	return g
}

func (h *Halt) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "by":
			h.By = r.String()
		case "reason":
			h.Reason = r.String()
		case "details":
			h.Details = r.String()
		case "at":
			h.At = r.Time()
		case "automatic":
			h.Automatic = r.Bool()
		case "alerted":
			h.Alerted = r.Bool()
		default:
			r.Unknown(&h.Unknown, name)
		}
	})
	r.Require("by", "reason")
}

func (c *Counters) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "enqueued":
			c.Enqueued = r.Int(0)
		case "claimed":
			c.Claimed = r.Int(0)
		case "done":
			c.Done = r.Int(0)
		case "dead":
			c.Dead = r.Int(0)
		case "cancelled":
			c.Cancelled = r.Int(0)
		case "expired":
			c.Expired = r.Int(0)
		case "allowed":
			c.Allowed = r.Int(0)
		case "denied":
			c.Denied = r.Int(0)
		case "answered":
			c.Answered = r.Int(0)
		case "timedOut":
			c.TimedOut = r.Int(0)
		case "withdrawn":
			c.Withdrawn = r.Int(0)
		case "ends":
			r.Object(func(end string) {
				c.Ends = append(c.Ends, EndCount{End(end), r.Int(0)})
			})
		case "firstClaims":
			c.FirstClaims = r.Int(0)
		case "waitedMs":
			c.Waited = r.Milliseconds(0)
		case "longestWaitMs":
			c.LongestWait = r.Milliseconds(0)
		case "ranMs":
			c.Ran = r.Milliseconds(0)
		case "longestRunMs":
			c.LongestRun = r.Milliseconds(0)
		default:
			r.Unknown(&c.Unknown, name)
		}
	})
}

// usualRow is about the number of bytes of a task that waits, by which the number of tasks is
// guessed.
const usualRow = 150

func readTasks(r *wire.Reader, src *source) (tasks []*Task) {
	var slab []Task
	var ids map[string]struct{}
	last := int64(0)
	r.Array(func() {
		if ids == nil {
			ids = make(map[string]struct{}, (len(src.text)-r.Offset())/usualRow)
		}
		if len(slab) == cap(slab) {
			slab = make([]Task, 0, min(256, 8+2*len(tasks)))
			tasks = slices.Grow(tasks, cap(slab))
		}

		slab = slab[:len(slab)+1]
		t, start := &slab[len(slab)-1], r.Offset()
		t.read(r)
		t.source, t.decoded = src, t
		t.piece = wire.Piece{Start: int32(start), End: int32(r.Offset())}
		tasks = append(tasks, t)

		if _, has := ids[t.ID]; has && !r.Failed() {
			r.FailMember(start+1, "taskId", wire.ErrCorrupt, "%q occurs twice", t.ID)
		}
		if t.Seq <= last && !r.Failed() {
			r.FailMember(start+1, "seq", wire.ErrCorrupt, "more than %d is expected", last)
		}
		ids[t.ID], last = struct{}{}, t.Seq
	})
	return tasks
}

func (t *Task) read(r *wire.Reader) {
	t.State = Waiting
	r.Object(func(name string) {
		switch name {
		case "taskId":
			t.ID = readTaskID(r)
		case "seq":
			t.Seq = r.Revision()
		case "state":
			t.State = wire.ReadWord(r, "state", TaskState.valid)
		case "priority":
			t.Priority = readPriority(r)
		case "spec":
			t.Spec = readSpec(r)
		case "key":
			t.Key = r.String()
		case "group":
			t.Group = r.ID()
		case "after":
			r.Array(func() { t.After = append(t.After, readTaskID(r)) })
		case "enqueuedAt":
			t.EnqueuedAt = r.Time()
		case "traceparent":
			t.Traceparent = r.String()
		case "maxAttempts":
			t.MaxAttempts = r.Int(1)
		case "notBefore":
			t.NotBefore = r.Time()
		case "delay":
			t.delay.read(r, name)
		case "expiry":
			t.expiry.read(r, name)
		case "attempts":
			t.Attempts = r.Int(0)
		case "tries":
			t.Tries = r.Int(0)
		case "charged":
			t.Charged = r.Int(0)
		case "sameError":
			t.SameError = r.Int(0)
		case "reason":
			t.Reason = r.String()
		case "question":
			t.Question = r.String()
		case "alerted":
			t.Alerted = r.Bool()
		case "claim":
			t.Claim = readClaim(r)
		case "ask":
			t.Ask = readAsk(r)
		default:
			if !t.Last.readMember(r, name) {
				r.Unknown(&t.Unknown, name)
			}
		}
	})

	r.Require("taskId", "seq", "spec", "enqueuedAt")
	switch {
	case t.State == Claimed:
		r.Require("claim")
	case t.Claim != nil:
		r.FailMember(r.Offset(), "claim", wire.ErrCorrupt, "the task is %s", t.State)
	}
	switch {
	case t.State == Open:
		r.Require("ask")
	case t.Ask != nil:
		r.FailMember(r.Offset(), "ask", wire.ErrCorrupt, "the task is %s", t.State)
	}
}

// minPriority and maxPriority limit a priority.
const (
	minPriority = -maxPriority
	maxPriority = 1_000_000
)

// readMember reads the member name, and reports whether it is one of the last attempt.
func (a *Attempt) readMember(r *wire.Reader, name string) bool {
	switch name {
	case "lastEpoch":
		a.Epoch = r.Revision()
	case "lastEnd":
		a.End = wire.ReadWord(r, "end", End.Valid)
	case "lastStatus":
		a.Status = r.Int(0)
	case "lastReason":
		a.Reason = r.String()
	case "lastJudged":
		a.Judged = r.Bool()
	case "lastBy":
		a.By = r.ID()
	case "lastAt":
		a.At = r.Time()
	case "lastRanMs":
		a.Ran = r.Milliseconds(0)
	default:
		return false
	}
	return true
}

func readClaim(r *wire.Reader) *Claim {
	c := &Claim{}
	r.Object(func(name string) {
		switch name {
		case "epoch":
			c.Epoch = r.Revision()
		case "at":
			c.At = r.Time()
		case "beat":
			c.Beat = observe.ReadBeat(r, &c.nested, name)
		case "participant":
			c.Participant = r.ID()
		case "pid":
			c.PID = int(r.Int(0))
		case "process":
			c.Process = observe.ReadProcess(r, &c.nested, name)
		case "keeper":
			c.Keeper = observe.ReadProcess(r, &c.nested, name)
		case "operation":
			c.Operation = r.ID()
		case "call":
			c.Call = r.ID()
		case "deadlineMs":
			c.Deadline = r.Milliseconds(1)
		case "stop":
			c.Stop = wire.ReadWord(r, "end", func(e End) bool { return e == Released || e == Cancelled })
		case "stopReason":
			c.StopReason = r.String()
		case "intent":
			c.Intent = readIntent(r, &c.nested)
		default:
			r.Unknown(&c.Unknown, name)
		}
	})

	r.Require("epoch", "at", "participant")
	return c
}

func readIntent(r *wire.Reader, nested **wire.Nested) *Outcome {
	o := &Outcome{}
	r.Object(func(name string) {
		switch name {
		case "end":
			o.End = wire.ReadWord(r, "end", End.Valid)
		case "status":
			o.Status = r.Int(0)
		case "reason":
			o.Reason = r.String()
		case "question":
			o.Question = r.String()
		case "delayMs":
			o.Delay = r.Milliseconds(0)
		default:
			r.Nested(nested, "intent", name)
		}
	})
	r.Require("end")
	return o
}

// usualEnded is about the number of bytes of a task that has ended.
const usualEnded = 250

func readEnded(r *wire.Reader, src *source) (all []Ended) {
	r.Array(func() {
		if all == nil {
			all = make([]Ended, 0, 1+min(mostEnded, (len(src.text)-r.Offset())/usualEnded))
		}
		e, start := Ended{source: src}, r.Offset()
		e.read(r)
		e.piece = wire.Piece{Start: int32(start), End: int32(r.Offset())}
		all = append(all, e)
	})
	return all
}

func (e *Ended) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "taskId":
			e.ID = readTaskID(r)
		case "end":
			e.End = wire.ReadWord(r, "end", TaskEnd.Valid)
		case "spec":
			e.Spec = r.Hash()
		case "keyId":
			e.KeyID = readTaskID(r)
		case "at":
			e.At = r.Time()
		case "decision":
			e.Decision = readDecision(r)
		default:
			if !e.Last.readMember(r, name) {
				r.Unknown(&e.Unknown, name)
			}
		}
	})
	r.Require("taskId", "end", "spec", "at")
	if e.Last.At.IsZero() {
		e.Last.At = e.At
	}
}
