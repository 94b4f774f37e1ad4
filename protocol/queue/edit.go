package queue

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Seen is what a verb learns about the world: an observation, calls of operations, tasks that ended
// so long ago that the queue's file no longer names them, and how questions of other queues and the
// tasks that wait for them are.
type Seen struct {
	observe.Observation
	Call    CallLookup // nil: it sees no calls
	Past    PastLookup // by the id of a task; nil: it knows of none
	PastKey PastLookup // by the keyId of a question; nil: the same

	Question QuestionLookup // nil: it sees no questions of other queues
	Parked   ParkedLookup   // nil: it sees no tasks of other queues
	Recorded RecordLookup
}

// A RecordLookup reports whether a line of the record that ends with chain is wanted. A part of the
// record that was moved elsewhere is not looked at. It returns an error if the log cannot be read.
type RecordLookup func(chain audit.Chain, wanted func(audit.Line) bool) (bool, error)

// A PastLookup returns the task id that has ended. It reports false if there is no record of it.
type PastLookup func(id string) (ended Ended, known bool)

// Effects are what an edit asks of the file system before its commit (spec §36).
type Effects struct {
	Verb     string       // the verb that has asked
	Specs    []NewSpec    // to be written
	Reports  []Report     // of attempts, to be written
	Remember []Remembered // outside the queue's file
	Publish  []observe.Publication
	Stopped  []Stopped // of enqueue; nothing is to be done about them

	PublishAgain bool // an earlier edit may have published the same
}

// A Remembered is an ended task, and its number among all that have ended in the queue.
type Remembered struct {
	Ended
	Seq int64
}

// Line returns the line of r in the file of ended tasks, without its newline (spec §36.2).
func (r Remembered) Line() string {
	return wire.Line(func(w *wire.Writer) {
		w.Int("seq", r.Seq)
		r.record(w.Codec())
	})
}

// DecodeRemembered returns the task in a line of the file of ended tasks. Its errors are those of
// wire.Decode.
func DecodeRemembered(line string) (Ended, error) {
	e, err := wire.DecodeRecord(line, (*Ended).record)
	e.Unknown = slices.DeleteFunc(e.Unknown, func(m wire.Member) bool { return m.Name == "seq" })
	return e, err
}

// A Report is what a worker says about an attempt, for the next one and for people.
type Report struct {
	Task  string
	Epoch int64
	Text  string
}

// A NewSpec is the content of the spec of a task.
type NewSpec struct {
	Task string
	Spec Content
}

// Effects returns the effects of the verb that returned q.
func (q Queue) Effects() Effects { return q.effects }

// An Abort asks for the operation of a claim to be aborted.
type Abort struct {
	Operation string
	Reason    string
}

// Aborts returns the operations that are to be aborted because their claims are to end. That is
// repeated after each edit until they have ended, so a killed edit loses nothing (spec §35.4).
func (q Queue) Aborts() (all []Abort) {
	for _, t := range q.Tasks {
		if c := t.Claim; c != nil && c.Stop != "" && q.IsAttempt(t) {
			all = append(all, Abort{c.Operation, c.StopReason})
		}
	}
	return all
}

// keptEnded is how many ended tasks stay in the file at least; mostEnded how many do at most. The
// difference is remembered elsewhere at once, with one fsync. A decision is long, and nobody
// settles a question twice, so fewer questions stay.
const (
	keptEnded, mostEnded         = 32, 64
	keptQuestions, mostQuestions = 10, 25
)

// edit is an edit in progress, on a copy of a queue.
type edit struct {
	q       Queue
	before  Queue
	seen    Seen
	copied  bool // the tasks of q are a copy
	ended   bool // a task has ended: Ended of q is a copy
	changed bool
	emptied bool // a task has ended, died or become blocked, or now waits for no question

	wrote map[string]bool // the tasks that were added or replaced
	known []Stopped       // those of enqueue that are known already, and will not run

	places map[string]int // in enqueue: where the tasks are that the batch names
}

// begin returns an edit of q by verb. A tombstone can only be created anew.
func (q Queue) begin(verb string, seen Seen) (*edit, error) {
	if q.Removed {
		return nil, ErrNoQueue
	}
	return q.beginAnyway(verb, seen), nil
}

func (q Queue) beginAnyway(verb string, seen Seen) *edit {
	seen.Now = wire.Moment(seen.Now)
	e := &edit{q: q, before: q, seen: seen}
	e.q.effects = Effects{Verb: verb}
	return e
}

// tasks returns the tasks of e, of which elements may be replaced.
func (e *edit) tasks() []*Task {
	if !e.copied {
		e.q.Tasks, e.copied = slices.Clone(e.q.Tasks), true
	}
	return e.q.Tasks
}

// own returns a copy of task i, which may be changed.
func (e *edit) own(i int) *Task {
	t := *e.q.Tasks[i]
	e.tasks()[i] = &t
	e.changed = true
	return &t
}

// end returns the queue after the edit: what follows from ended tasks, and the next revision. With
// an error it returns the queue before it.
func (e *edit) end() (Queue, error) {
	e.cancelHopeless()
	e.judgeGoal()
	e.spill()

	if !e.changed {
		return e.before.unchanged(), nil
	}
	if e.q.Revision++; e.q.Revision > wire.LastRevision || e.q.LastSeq > wire.LastRevision ||
		e.q.LastEpoch > wire.LastRevision {
		return e.before, wire.ErrExhausted
	}
	return e.q, nil
}

func (q Queue) unchanged() Queue {
	q.effects = Effects{}
	return q
}

// finish ends task i.
func (e *edit) finish(i int, end TaskEnd) {
	t := e.q.Tasks[i]
	if !e.ended {
		e.q.Ended, e.ended = slices.Clip(e.q.Ended), true // so that append copies it, once
	}
	last := t.Last
	if last.At.IsZero() {
		last.At = e.seen.Now
	}
	e.q.Ended = append(e.q.Ended, Ended{
		ID: t.ID, End: end, Spec: t.SpecHash(), Last: last, At: e.seen.Now, Unknown: t.Unknown,
	})
	e.q.Tasks = slices.Delete(e.tasks(), i, i+1)
	e.changed, e.emptied = true, true

	switch c := &e.q.Counters; end {
	case EndedDone:
		c.Done++
		e.release(t.ID)
	case EndedCancelled:
		c.Cancelled++
	case EndedExpired:
		c.Expired++
	case EndedAllowed:
		c.Allowed++
	case EndedDenied:
		c.Denied++
	case EndedAnswered:
		c.Answered++
	case EndedTimedOut:
		c.TimedOut++
	case EndedWithdrawn:
		c.Withdrawn++
	}
}

// release lets the tasks go on that wait for the task id, which is done.
func (e *edit) release(id string) {
	for i, t := range e.q.Tasks {
		if slices.Contains(t.After, id) {
			t = e.own(i)
			t.After = slices.DeleteFunc(slices.Clone(t.After), func(s string) bool { return s == id })
		}
	}
}

// cancelHopeless cancels the waiting tasks that wait for one that cannot be done any more, if the
// policy says so: in their order, and again from the first until none is left.
func (e *edit) cancelHopeless() {
	if e.q.Policy.OnDeadDependency != DependencyCancel {
		return
	}

	alive := make(map[string]bool, len(e.q.Tasks))
	for _, t := range e.q.Tasks {
		alive[t.ID] = t.State.live()
	}

	for again := true; again; {
		again = false
		for i := 0; i < len(e.q.Tasks); {
			t := e.q.Tasks[i]
			if t.State != Waiting ||
				!slices.ContainsFunc(t.After, func(id string) bool { return !alive[id] }) {
				i++
				continue
			}
			e.finish(i, EndedCancelled)
			alive[t.ID], again = false, true
		}
	}
}

// judgeGoal halts the queue if this edit has left nothing that a worker or an answer continues, and
// its goal is open.
func (e *edit) judgeGoal() {
	goes := func(t *Task) bool { return t.State.live() && (t.State != Blocked || t.asks()) }
	if g := e.q.Goal; e.emptied && g != nil && !g.Completed &&
		!slices.ContainsFunc(e.q.Tasks, goes) {
		e.halt(HaltOpenGoal, "")
	}
}

// halt sets an automatic halt, unless it is set.
func (e *edit) halt(reason, details string) {
	set := func(h Halt) bool { return h.Automatic && h.Reason == reason }
	if slices.ContainsFunc(e.q.Halts, set) {
		return
	}

	e.q.Halts = append(slices.Clip(e.q.Halts), Halt{By: "policy", Reason: reason, Details: details,
		At: e.seen.Now, Automatic: true})
	e.changed = true
}

// haltBy halts the queue if a rule of the policy with that word says so, after count of them.
func (e *edit) haltBy(word string, count int64, details string) {
	for _, rule := range e.q.Policy.HaltOn {
		if rule.Word == word && count >= rule.Count {
			e.halt(rule.String(), details)
		}
	}
}

// spill asks for the oldest ended tasks to be remembered elsewhere, if there are many. They are
// committed already, so their numbers are never given to others.
func (e *edit) spill() {
	kept, most := keptEnded, mostEnded
	if IsAskQueue(e.before.ID) {
		kept, most = keptQuestions, mostQuestions
	}
	n := len(e.before.Ended) - kept
	if n <= most-kept || !e.changed || e.q.Removed || e.before.Removed {
		return
	}

	number := e.before.Counters.Ended() - int64(len(e.before.Ended))
	for i, ended := range e.before.Ended[:n] {
		if d := ended.Decision; d != nil && d.Rule.Number > 0 {
			continue // rules are asked again, and decide thousands of questions a day
		}
		e.q.effects.Remember = append(e.q.effects.Remember,
			Remembered{ended, number + int64(i) + 1})
	}
	e.q.Ended = slices.Clone(e.q.Ended[n:])
}
