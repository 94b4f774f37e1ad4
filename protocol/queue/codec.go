package queue

import (
	"io"
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// source is the text that a queue was decoded from, so that what did not change is copied.
type source struct{ text string }

// Decode returns the queue in text, the content of a queue file (spec §33). Its errors are those of
// wire.Decode.
func Decode(text string) (Queue, error) { return wire.DecodeRecord(text, (*Queue).record) }

// Encode returns the content of the queue's file: members in the order of spec §33, with each task
// on a line of its own. Tasks that are unchanged since they were decoded keep their text.
func (q Queue) Encode() string { return wire.Text(wire.Record(q.record)) }

// EncodeHead returns the members of q before its tasks, as one line.
func (q Queue) EncodeHead() string {
	return wire.Line(wire.Record(func(c *wire.Codec) { c.Record(&q.Unknown, q.head) }))
}

// Encode returns t as it is in the file of its queue, but in one line.
func (t *Task) Encode() string { return wire.Line(wire.Record(t.record)) }

// Encode returns e as Task.Encode does.
func (e *Ended) Encode() string { return wire.Line(wire.Record(e.record)) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (q Queue) WriteTo(out io.Writer) (n int64, err error) {
	return wire.Write(out, wire.Record(q.record))
}

// record reads or writes q (spec §33).
func (q *Queue) record(c *wire.Codec) {
	src := q.source
	if c.Reads() {
		*q, src = Create(""), &source{text: c.Source()}
	} else if src == nil {
		src = &source{}
	}
	if !c.Record(&q.Unknown, func(c *wire.Codec) { q.members(c, src) },
		"queueId", "policy", "tasks") {
		return
	}

	if seq, epoch := q.highest(); seq > q.LastSeq {
		c.FailMember("lastSeq", "a task has %d", seq)
	} else if epoch > q.LastEpoch {
		c.FailMember("lastEpoch", "an attempt has %d", epoch)
	}
	q.source = src
}

func (q *Queue) members(c *wire.Codec, src *source) {
	q.head(c)
	c.Own("tasks", func(r *wire.Reader) { q.Tasks = readTasks(r, src) },
		func(w *wire.Writer) { q.writeTasks(w, src) }, wire.Always)
	c.Own("ended", func(r *wire.Reader) { q.Ended = readEnded(r, src) },
		func(w *wire.Writer) { q.writeEnded(w, src) }, wire.Always)
	if q.Audit.Member(c) && q.Audit.Off {
		// It means nothing here, because the record is always on (spec §52).
		q.Audit.Off = false
		q.Audit.Unknown = append(q.Audit.Unknown, wire.Member{Name: "off", Value: "true"})
	}
}

// head are the members before the tasks.
func (q *Queue) head(c *wire.Codec) {
	c.String("$schema", &q.Schema, wire.IfSet)
	c.Version(&q.ProtocolVersion)
	c.Text("queueId", &q.ID, readQueueID, wire.Always)
	c.Revision("revision", &q.Revision, wire.Always)
	c.Object("policy", q.Policy.record, wire.Always)
	wire.Pointer(c, "goal", &q.Goal, (*Goal).record)
	wire.Objects(c, "halts", &q.Halts, (*Halt).record, wire.IfSet)
	if c.Int64("permits", &q.Permits.Left, 0, wire.If(q.Permits.Limited)) {
		q.Permits.Limited = true
	}
	c.Bool("closed", &q.Closed, wire.IfSet)
	c.Bool("removed", &q.Removed, wire.IfSet)
	c.Revision("lastSeq", &q.LastSeq, wire.Always)
	c.Revision("lastEpoch", &q.LastEpoch, wire.Always)
	c.Int64("deadSinceResume", &q.Dead, 0, wire.IfSet)
	c.Int64("failuresInRow", &q.Failures, 0, wire.IfSet)
	c.Object("counters", q.Counters.record, wire.Always)
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

func (p *Policy) record(c *wire.Codec) {
	if c.Reads() {
		*p = Policy{OnDeadDependency: DependencyWait}
	}
	c.Record(&p.Unknown, p.members, "maxAttempts", "rememberForMs")
}

func (p *Policy) members(c *wire.Codec) {
	c.Int64("slots", &p.Slots, 0, wire.IfSet)
	c.Int64("maxAttempts", &p.MaxAttempts, 1, wire.Always)
	c.AllMilliseconds("backoffMs", &p.Backoff, wire.Always)
	wire.Word(c, "onDeadDependency", &p.OnDeadDependency, "onDeadDependency",
		DependencyPolicy.Valid, wire.If(p.OnDeadDependency != DependencyWait))
	c.Own("haltOn", p.readHaltOn, p.writeHaltOn, wire.Always)
	c.Int64("depth", &p.Depth, 0, wire.IfSet)
	c.Milliseconds("ageAfterMs", &p.AgeAfter, 0, wire.If(p.AgeAfter > 0))
	c.Milliseconds("rememberForMs", &p.RememberFor, 0, wire.Always)
}

func (p *Policy) readHaltOn(r *wire.Reader) {
	r.Array(func() {
		rule, err := ParseHaltRule(r.String())
		if err != nil {
			r.Refuse("%v", err)
		}
		p.HaltOn = append(p.HaltOn, rule)
	})
}

func (p *Policy) writeHaltOn(w *wire.Writer) {
	words := make([]string, len(p.HaltOn))
	for i, rule := range p.HaltOn {
		words[i] = rule.String()
	}
	w.Strings("haltOn", words)
}

func (g *Goal) record(c *wire.Codec) { c.Record(&g.Unknown, g.members) }

func (g *Goal) members(c *wire.Codec) {
	c.String("description", &g.Description, wire.Always)
	c.Bool("completed", &g.Completed, wire.IfSet)
}

func (h *Halt) record(c *wire.Codec) { c.Record(&h.Unknown, h.members, "by", "reason") }

func (h *Halt) members(c *wire.Codec) {
	c.String("by", &h.By, wire.Always)
	c.String("reason", &h.Reason, wire.Always)
	c.String("details", &h.Details, wire.IfSet)
	c.Time("at", &h.At, wire.IfSet)
	c.Bool("automatic", &h.Automatic, wire.IfSet)
	c.Bool("alerted", &h.Alerted, wire.IfSet)
}

func (n *Counters) record(c *wire.Codec) { c.Record(&n.Unknown, n.members) }

func (n *Counters) members(c *wire.Codec) {
	c.Int64("enqueued", &n.Enqueued, 0, wire.IfSet)
	c.Int64("claimed", &n.Claimed, 0, wire.IfSet)
	c.Int64("done", &n.Done, 0, wire.IfSet)
	c.Int64("dead", &n.Dead, 0, wire.IfSet)
	c.Int64("cancelled", &n.Cancelled, 0, wire.IfSet)
	c.Int64("expired", &n.Expired, 0, wire.IfSet)
	c.Int64("allowed", &n.Allowed, 0, wire.IfSet)
	c.Int64("denied", &n.Denied, 0, wire.IfSet)
	c.Int64("answered", &n.Answered, 0, wire.IfSet)
	c.Int64("timedOut", &n.TimedOut, 0, wire.IfSet)
	c.Int64("withdrawn", &n.Withdrawn, 0, wire.IfSet)
	c.Own("ends", n.readEnds, n.writeEnds, wire.If(len(n.Ends) > 0))
	c.Int64("firstClaims", &n.FirstClaims, 0, wire.IfSet)
	c.Milliseconds("waitedMs", &n.Waited, 0, wire.IfSet)
	c.Milliseconds("longestWaitMs", &n.LongestWait, 0, wire.IfSet)
	c.Milliseconds("ranMs", &n.Ran, 0, wire.IfSet)
	c.Milliseconds("longestRunMs", &n.LongestRun, 0, wire.IfSet)
}

func (n *Counters) readEnds(r *wire.Reader) {
	r.Object(func(end string) { n.Ends = append(n.Ends, EndCount{End(end), r.Int(0)}) })
}

func (n *Counters) writeEnds(w *wire.Writer) {
	w.Object("ends", func(w *wire.Writer) {
		for _, e := range n.Ends {
			w.Int(string(e.End), e.Count)
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
		t.record(r.Codec())
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

func (q *Queue) writeTasks(w *wire.Writer, src *source) {
	w.Rows("tasks", src.text, len(q.Tasks), func(i int) wire.Piece {
		return q.Tasks[i].pieceOf(q.source)
	}, func(i int, w *wire.Writer) { q.Tasks[i].record(w.Codec()) })
}

// pieceOf returns the piece of src that t was decoded from, or none if t was changed or made since.
func (t *Task) pieceOf(src *source) wire.Piece {
	if t.decoded != t || t.source != src {
		return wire.Piece{}
	}
	return t.piece
}

// record reads or writes t (spec §33.2).
func (t *Task) record(c *wire.Codec) {
	if c.Reads() {
		t.State = Waiting
	}
	if !c.Record(&t.Unknown, t.members, "taskId", "seq", "spec", "enqueuedAt") {
		return
	}

	switch {
	case t.State == Claimed:
		c.Require("claim")
	case t.Claim != nil:
		c.FailMember("claim", "the task is %s", t.State)
	}
	switch {
	case t.State == Open:
		c.Require("ask")
	case t.Ask != nil:
		c.FailMember("ask", "the task is %s", t.State)
	}
}

func (t *Task) members(c *wire.Codec) {
	c.Text("taskId", &t.ID, readTaskID, wire.Always)
	c.Revision("seq", &t.Seq, wire.Always)
	wire.Word(c, "state", &t.State, "state", TaskState.valid, wire.If(t.State != Waiting))
	priorityMember(c, &t.Priority)
	if c.At("spec") {
		c.Own("spec", t.readSpec, t.writeSpec, wire.Always)
	}
	c.String("key", &t.Key, wire.IfSet)
	c.ID("group", &t.Group, wire.IfSet)
	c.Texts("after", &t.After, readTaskID, wire.IfSet)
	c.Time("enqueuedAt", &t.EnqueuedAt, wire.Always)
	c.String("traceparent", &t.Traceparent, wire.IfSet)
	c.Int64("maxAttempts", &t.MaxAttempts, 1, wire.IfSet)
	c.Time("notBefore", &t.NotBefore, wire.IfSet)
	t.delay.member(c, "delay")
	t.expiry.member(c, "expiry")
	c.Int64("attempts", &t.Attempts, 0, wire.IfSet)
	c.Int64("tries", &t.Tries, 0, wire.IfSet)
	c.Int64("charged", &t.Charged, 0, wire.IfSet)
	t.Last.members(c, wire.IfSet)
	c.Int64("sameError", &t.SameError, 0, wire.IfSet)
	c.String("reason", &t.Reason, wire.IfSet)
	c.String("question", &t.Question, wire.IfSet)
	c.Bool("alerted", &t.Alerted, wire.IfSet)
	wire.Pointer(c, "claim", &t.Claim, (*Claim).record)
	wire.Pointer(c, "ask", &t.Ask, (*Ask).record)
}

// minPriority and maxPriority limit a priority.
const (
	minPriority = -maxPriority
	maxPriority = 1_000_000
)

// priorityMember is the member priority of a task or a request.
func priorityMember(c *wire.Codec, n *int64) {
	if c.Int64("priority", n, minPriority, wire.IfSet) && *n > maxPriority {
		c.Refuse("a priority of at most %d is expected", int64(maxPriority))
	}
}

// members are those of the last attempt, among those of its task. timed says when its time is
// written.
func (a *Attempt) members(c *wire.Codec, timed wire.When) {
	c.Revision("lastEpoch", &a.Epoch, wire.IfSet)
	wire.Word(c, "lastEnd", &a.End, "end", End.Valid, wire.IfSet)
	c.Int64("lastStatus", &a.Status, 0, wire.IfSet)
	c.String("lastReason", &a.Reason, wire.IfSet)
	c.Bool("lastJudged", &a.Judged, wire.IfSet)
	c.ID("lastBy", &a.By, wire.IfSet)
	c.Time("lastAt", &a.At, timed)
	c.Milliseconds("lastRanMs", &a.Ran, 0, wire.IfSet)
}

func (l *Claim) record(c *wire.Codec) {
	c.Record(&l.Unknown, l.members, "epoch", "at", "participant")
}

func (l *Claim) members(c *wire.Codec) {
	c.Revision("epoch", &l.Epoch, wire.Always)
	c.Time("at", &l.At, wire.Always)
	l.Beat.Member(c, "beat", &l.nested)
	c.ID("participant", &l.Participant, wire.Always)
	c.Int("pid", &l.PID, 0, wire.IfSet)
	l.Process.Member(c, "process", &l.nested)
	l.Keeper.Member(c, "keeper", &l.nested)
	c.ID("operation", &l.Operation, wire.IfSet)
	c.ID("call", &l.Call, wire.IfSet)
	c.Milliseconds("deadlineMs", &l.Deadline, 1, wire.IfSet)
	wire.Word(c, "stop", &l.Stop, "end", End.stops, wire.IfSet)
	c.String("stopReason", &l.StopReason, wire.IfSet)
	wire.Pointer(c, "intent", &l.Intent, func(o *Outcome, c *wire.Codec) {
		c.Nested(&l.nested, "intent", o.members, "end")
	})
}

// stops reports whether a worker can be asked to stop so that its attempt ends as e.
func (e End) stops() bool { return e == Released || e == Cancelled }

func (o *Outcome) members(c *wire.Codec) {
	wire.Word(c, "end", &o.End, "end", End.Valid, wire.Always)
	c.Int64("status", &o.Status, 0, wire.IfSet)
	c.String("reason", &o.Reason, wire.IfSet)
	c.String("question", &o.Question, wire.IfSet)
	c.Milliseconds("delayMs", &o.Delay, 0, wire.IfSet)
}

// usualEnded is about the number of bytes of a task that has ended.
const usualEnded = 250

func readEnded(r *wire.Reader, src *source) (all []Ended) {
	r.Array(func() {
		if all == nil {
			all = make([]Ended, 0, 1+min(mostEnded, (len(src.text)-r.Offset())/usualEnded))
		}
		all = append(all, Ended{source: src})
		e, start := &all[len(all)-1], r.Offset()
		e.record(r.Codec())
		e.piece = wire.Piece{Start: int32(start), End: int32(r.Offset())}
	})
	return all
}

func (q *Queue) writeEnded(w *wire.Writer, src *source) {
	w.Rows("ended", src.text, len(q.Ended), func(i int) wire.Piece {
		if e := &q.Ended[i]; e.source == q.source {
			return e.piece
		}
		return wire.Piece{}
	}, func(i int, w *wire.Writer) { q.Ended[i].record(w.Codec()) })
}

func (e *Ended) record(c *wire.Codec) {
	if c.Record(&e.Unknown, e.members, "taskId", "end", "spec", "at") {
		if e.Last.At.IsZero() {
			e.Last.At = e.At
		}
	}
}

func (e *Ended) members(c *wire.Codec) {
	c.Text("taskId", &e.ID, readTaskID, wire.Always)
	wire.Word(c, "end", &e.End, "end", TaskEnd.Valid, wire.Always)
	c.Text("spec", &e.Spec, (*wire.Reader).Hash, wire.Always)
	c.Text("keyId", &e.KeyID, readTaskID, wire.IfSet)
	e.Last.members(c, wire.If(!e.Last.At.Equal(e.At) && !e.Last.At.IsZero()))
	c.Time("at", &e.At, wire.Always)
	wire.Pointer(c, "decision", &e.Decision, (*Decision).record)
}
