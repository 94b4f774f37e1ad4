package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Control is what an operator asks of a queue. Its members are done in this order, in one edit.
type Control struct {
	By      string // who asks
	Create  bool   // refuse a queue that exists with another policy
	Policy  func(*Policy)
	Goal    *string
	Done    bool // the goal is completed
	Permits *PermitChange
	Close   *bool
	Resume  bool
	Halt    *HaltRequest
}

// A PermitChange sets the permits, or adds to them.
type PermitChange struct {
	All   bool // there is no limit
	Add   bool
	Count int64
}

// A HaltRequest is a halt to be set. With Now, the claims are released, too.
type HaltRequest struct {
	Reason, Details string
	Now             bool
}

// Control returns q with all that c asks (spec §37). The errors are ErrNoQueue, ErrOtherPolicy,
// ErrNotManual, and ErrOtherHalts for a resume of a queue that only others have halted.
func (q Queue) Control(c Control, seen Seen) (Queue, error) {
	if q.Removed && !c.Create {
		return q, ErrNoQueue
	}

	e := q.beginAnyway("control", seen)
	isNew := q.Removed || q.Revision == 0 && q.source == nil
	e.revive()
	if isNew {
		e.changed = true
	}
	e.pass()

	if err := e.adjust(c, isNew); err != nil {
		return q, err
	}
	if g := c.goal(e.q.Goal); g != e.q.Goal {
		e.q.Goal, e.changed = g, true
	}
	if c.Close != nil && *c.Close != e.q.Closed {
		e.q.Closed, e.changed = *c.Close, true
	}
	if err := e.permit(c.Permits); err != nil {
		return q, err
	}
	if c.Resume {
		if err := e.resume(c.By); err != nil {
			return q, err
		}
	}
	if c.Halt != nil {
		e.haltAs(c.By, *c.Halt)
	}
	return e.end()
}

// goal returns what becomes of the goal before, which may be nil.
func (c Control) goal(before *Goal) *Goal {
	var after Goal
	switch {
	case before != nil:
		after = *before
	case c.Goal == nil:
		return nil
	}

	if c.Goal != nil {
		after.Description, after.Completed = *c.Goal, false
	}
	after.Completed = after.Completed || c.Done
	if before != nil && after.Description == before.Description &&
		after.Completed == before.Completed {
		return before
	}
	return &after
}

// adjust changes the policy.
func (e *edit) adjust(c Control, isNew bool) error {
	if c.Policy == nil {
		return nil
	}

	before := e.q.Policy
	if c.Create {
		e.q.Policy = defaultPolicy(e.q.ID)
		e.q.Policy.Unknown = before.Unknown
	}
	e.q.Policy.Backoff = slices.Clone(e.q.Policy.Backoff)
	e.q.Policy.HaltOn = slices.Clone(e.q.Policy.HaltOn)
	c.Policy(&e.q.Policy)

	if e.q.Policy.same(before) {
		return nil
	}
	if c.Create && !isNew {
		return ErrOtherPolicy
	}
	e.changed = true
	return nil
}

func (e *edit) permit(change *PermitChange) error {
	if change == nil {
		return nil
	}

	p := Permits{true, change.Count}
	switch {
	case change.All:
		p = Permits{}
	case change.Add && !e.q.Permits.Limited:
		return ErrNotManual
	case change.Add:
		p.Left += e.q.Permits.Left
	}
	if max(change.Count, p.Left) > wire.LastRevision {
		return wire.ErrExhausted
	}
	if p != e.q.Permits {
		e.q.Permits, e.changed = p, true
	}
	return nil
}

// resume lifts the halts of by; the operator lifts the automatic ones, too.
func (e *edit) resume(by string) error {
	lifts := func(h Halt) bool {
		return h.Automatic && by == Operator || !h.Automatic && h.By == by
	}
	left := slices.DeleteFunc(slices.Clone(e.q.Halts), lifts)
	switch {
	case len(left) == len(e.q.Halts) && len(left) == 0:
		return nil
	case len(left) == len(e.q.Halts):
		return fmt.Errorf("%w: %s: %s", ErrOtherHalts, left[0].By, left[0].Reason)
	}

	e.q.Halts, e.changed = left, true
	if len(left) == 0 {
		e.q.Dead, e.q.Failures = 0, 0
	}
	return nil
}

// haltAs sets the halt of by, in place of an earlier one.
func (e *edit) haltAs(by string, request HaltRequest) {
	h := Halt{By: by, Reason: request.Reason, Details: request.Details, At: e.seen.Now}
	i := slices.IndexFunc(e.q.Halts, func(h Halt) bool { return !h.Automatic && h.By == by })
	switch {
	case i < 0:
		e.q.Halts, e.changed = append(slices.Clip(e.q.Halts), h), true
	case e.q.Halts[i].Reason != h.Reason || e.q.Halts[i].Details != h.Details:
		h.Unknown = e.q.Halts[i].Unknown
		e.q.Halts = slices.Clone(e.q.Halts)
		e.q.Halts[i], e.changed = h, true
	}

	if !request.Now {
		return
	}
	for i, t := range e.q.Tasks {
		if t.Claim != nil {
			e.stop(i, Released, "halted by "+by+because(request.Reason))
		}
	}
}

// stop asks for the attempt of task i to end so. To be cancelled is for ever.
func (e *edit) stop(i int, end End, reason string) {
	c := *e.q.Tasks[i].Claim
	if c.Stop == end || c.Stop == Cancelled {
		return
	}
	c.Stop, c.StopReason = end, reason
	e.own(i).Claim = &c
}

// Remove returns a tombstone of q, which keeps its numbers and forgets its tasks. It returns
// ErrNotEmpty if q has tasks that have not ended.
func (q Queue) Remove(seen Seen) (Queue, error) {
	e, err := q.begin("remove", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	if len(e.q.Tasks) > 0 {
		return q, fmt.Errorf("%w: it has %d tasks", ErrNotEmpty, len(e.q.Tasks))
	}
	e.q = Queue{Schema: e.q.Schema, ProtocolVersion: e.q.ProtocolVersion, ID: e.q.ID, Revision: e.q.Revision,
		Policy: defaultPolicy(e.q.ID), Removed: true, LastSeq: e.q.LastSeq,
		LastEpoch: e.q.LastEpoch, Counters: e.q.Counters, Audit: e.q.Audit, Unknown: e.q.Unknown,
		source: e.q.source, effects: e.q.effects}
	e.changed = true
	return e.end()
}

// Redrive returns q with the tasks ids, or all dead ones, waiting again with a full budget. They
// keep their places. The errors are *EntryErrors of ErrNoTask, ErrEnded and ErrNotDead.
func (q Queue) Redrive(ids []string, allDead bool, seen Seen) (Queue, error) {
	e, err := q.begin("redrive", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	if allDead {
		for _, t := range e.q.Tasks {
			if t.State == Dead {
				ids = append(slices.Clip(ids), t.ID)
			}
		}
	}

	for n, id := range ids {
		i := e.q.index(id)
		if i < 0 {
			return q, &EntryError{n, id, e.q.missing(id, e.seen)}
		}
		if state := e.q.Tasks[i].State; state != Dead && state != Blocked {
			return q, &EntryError{n, id, fmt.Errorf("%w: it is %s", ErrNotDead, state)}
		}

		t := e.own(i)
		t.State, t.Reason, t.Question, t.delay = Waiting, "", "", timerMember{}
		t.Charged, t.Tries, t.SameError, t.Alerted = 0, 0, 0, false
	}
	return e.end()
}

// Cancel returns q with the tasks ids cancelled. The attempt of a claimed one is asked to end if it
// has an operation, and the task is cancelled when it does; otherwise its claim is over. The errors
// are *EntryErrors of ErrNoTask and ErrEnded; a task that is cancelled already, or a question that
// is withdrawn, stays so.
func (q Queue) Cancel(ids []string, by, reason string, seen Seen) (Queue, error) {
	e, err := q.begin("cancel", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	for n, id := range ids {
		i := e.q.index(id)
		if i < 0 {
			if ended, _ := e.endOf(id); ended.End == EndedCancelled || ended.End == EndedWithdrawn {
				continue
			}
			return q, &EntryError{n, id, e.q.missing(id, e.seen)}
		}

		c := e.q.Tasks[i].Claim
		if e.q.Tasks[i].Ask != nil {
			e.decide(i, EndedWithdrawn, Decision{By: by, Answer: reason})
			continue
		}
		if c == nil {
			e.finish(i, EndedCancelled)
			continue
		}
		own := e.q.IsAttempt(e.q.Tasks[i])
		e.stop(i, Cancelled, "cancelled by "+by+because(reason))
		if !own {
			e.settle(i, Outcome{End: Cancelled}, true)
		}
	}
	return e.end()
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// DueIn returns how long it takes until a waiting task that only waits for its time may be claimed,
// or false if there is none.
func (q Queue) DueIn(seen Seen) (least time.Duration, any bool) {
	l := q.line(seen)
	for _, t := range q.Tasks {
		if t.State != Waiting {
			continue
		}

		timed, other, left := false, false, time.Duration(0)
		l.ofTask(t, func(h Hold) bool {
			if h.Kind == HeldByTime || h.Kind == HeldByDelay {
				timed, left = true, max(left, h.Left)
			} else {
				other = true
			}
			return true
		})
		if timed && !other && (!any || left < least) {
			least, any = left, true
		}
	}
	return least, any
}
