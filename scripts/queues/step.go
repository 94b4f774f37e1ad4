package queues

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// A pair is a revision of a queue and the next one. It collects why one does not follow from the
// other by one edit.
type pair struct {
	before, after queue.Queue
	faults        []string
}

// step returns why after is not what one edit makes of before (spec §33 to §37). It knows the rules
// from the spec, and not how package queue keeps them. Those of questions are in step_ask.go.
func step(before, after queue.Queue) []string {
	p := &pair{before: before, after: after}
	p.numbers()
	for _, t := range before.Tasks {
		p.task(t)
	}
	p.added()
	p.endedTasks()
	p.claims()
	return p.faults
}

func (p *pair) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf("revision %d: ", p.after.Revision)+fmt.Sprintf(format, args...))
}

// numbers checks what is counted.
func (p *pair) numbers() {
	b, a := p.before, p.after
	if a.Revision != b.Revision+1 {
		p.fault("it follows %d", b.Revision)
	}
	if n := a.LastEpoch - b.LastEpoch; n < 0 || n > 1 {
		p.fault("the last epoch was %d and is %d", b.LastEpoch, a.LastEpoch)
	}

	c := a.Counters
	if c.Claimed != a.LastEpoch {
		p.fault("%d claims, and the last epoch is %d", c.Claimed, a.LastEpoch)
	}
	if c.Enqueued != a.LastSeq || c.Enqueued != int64(len(a.Tasks))+endedTasks(a) {
		p.fault("%d tasks were added, the last seq is %d, %d tasks are there and %d have ended",
			c.Enqueued, a.LastSeq, len(a.Tasks), endedTasks(a))
	}
}

// endedTasks returns how many tasks of q have ended.
func endedTasks(q queue.Queue) int64 {
	c := q.Counters
	return c.Done + c.Cancelled + c.Expired + c.Allowed + c.Denied + c.Answered + c.TimedOut + c.Withdrawn
}

// task checks what became of a task.
func (p *pair) task(b *queue.Task) {
	a := p.after.Task(b.ID)
	if p.left(b) {
		return // endedTasks looks for it
	}

	if a.Seq != b.Seq || a.Spec != b.Spec || !a.EnqueuedAt.Equal(b.EnqueuedAt) {
		p.fault("%s has lost its place or its spec", b.ID)
	}
	if (a.State == queue.Claimed) != (a.Claim != nil) {
		p.fault("%s is %s, with the claim %v", a.ID, a.State, a.Claim)
	}
	p.question(b, a)

	newClaim := a.Claim != nil && (b.Claim == nil || a.Claim.Epoch != b.Claim.Epoch)
	if claims := a.Attempts - b.Attempts; claims != 0 && claims != 1 || newClaim != (claims == 1) {
		p.fault("%s was claimed %d times, and is %d times", a.ID, b.Attempts, a.Attempts)
	}
	if newClaim && a.Claim.Epoch != p.before.LastEpoch+1 {
		p.fault("%s was claimed with the epoch %d after %d", a.ID, a.Claim.Epoch, p.before.LastEpoch)
	}

	over := b.Claim != nil && (a.Claim == nil || newClaim)
	answered := p.answered(b, a, newClaim)
	switch {
	case over && (a.Last.Epoch != b.Claim.Epoch || a.Last.By != b.Claim.Participant):
		p.fault("the attempt %d of %s is over, but the last one is %v", b.Claim.Epoch, a.ID, a.Last)
	case !over && !answered && a.Last != b.Last:
		p.fault("the last attempt of %s was %v and is %v, but none was settled", a.ID, b.Last, a.Last)
	}

	redriven := b.State == queue.Dead || b.State == queue.Blocked
	if redriven && !answered && a.State != b.State && (a.State != queue.Waiting || a.Charged+a.Tries > 0) {
		p.fault("%s was %s and is %s", a.ID, b.State, a.State)
	}
}

// added checks the tasks that were added.
func (p *pair) added() {
	next, passing := p.before.LastSeq+1, int64(0)
	for _, e := range p.after.Ended {
		if p.passed(e) {
			passing++
		}
	}
	for _, a := range p.after.Tasks {
		if b := p.before.Task(a.ID); b != nil && !p.left(b) {
			continue
		}
		if p.endedBefore(a) || a.Seq < next || a.Seq > next+passing {
			p.fault("%s was added as %d, and not as %d, or again", a.ID, a.Seq, next)
		}
		passing -= a.Seq - next
		next = a.Seq + 1
	}
	if next+passing != p.after.LastSeq+1 {
		p.fault("the last seq is %d, and not %d", p.after.LastSeq, next+passing-1)
	}
}

// passed reports whether e was added and ended by one edit: it waits for what cannot be done any
// more (spec §37.4), or is a question that a rule has decided.
func (p *pair) passed(e queue.Ended) bool {
	if p.ruled(e) {
		return true
	}
	_, known := p.before.EndedTask(e.ID)
	return !known && p.before.Task(e.ID) == nil && p.after.Task(e.ID) == nil &&
		e.End == queue.EndedCancelled && sameAttempt(e.Last, queue.Attempt{}) &&
		p.after.Policy.OnDeadDependency == queue.DependencyCancel
}

// endedTasks checks that each task that has left has ended, in a way that it can, and that none is
// forgotten that ended before.
func (p *pair) endedTasks() {
	n := int(endedTasks(p.after) - endedTasks(p.before))
	if n < 0 || n > len(p.after.Ended) {
		p.fault("%d tasks have ended", n)
		return
	}

	old, ended := p.after.Ended[:len(p.after.Ended)-n], p.after.Ended[len(p.after.Ended)-n:]
	kept := p.before.Ended
	if len(kept) > 64 {
		kept = kept[len(kept)-32:]
	}
	same := func(a, b queue.Ended) bool { return a.ID == b.ID && a.End == b.End && a.Last == b.Last }
	if !slices.EqualFunc(old, kept, same) {
		p.fault("of %d ended tasks %d are kept, or others", len(p.before.Ended), len(old))
	}

	gone := 0
	for _, b := range p.before.Tasks {
		if p.left(b) {
			gone++
		}
	}
	for _, e := range ended {
		if p.passed(e) {
			gone++
		}
	}
	if gone != n {
		p.fault("%d tasks have gone, and %d have ended", gone, n)
	}
	for _, e := range ended {
		if !p.passed(e) {
			p.end(e)
		}
	}
}

// end checks the end of a task.
func (p *pair) end(e queue.Ended) {
	b := p.before.Task(e.ID)
	switch {
	case b == nil || !p.left(b):
		p.fault("%s has ended and was not there, or is there", e.ID)
	case b.Ask != nil || e.Decision != nil:
		p.endOfQuestion(b, e)
	case p.saidDone(b, e):
	case b.Claim == nil && (e.End == queue.EndedDone || !sameAttempt(e.Last, b.Last)):
		p.fault("%s is %s by nobody: %v", e.ID, e.End, e.Last)
	case b.Claim != nil && (e.Last.Epoch != b.Claim.Epoch || e.Last.By != b.Claim.Participant),
		e.End == queue.EndedDone && e.Last.End != queue.Done:
		p.fault("%s, claimed with %d, is %s by %v", e.ID, b.Claim.Epoch, e.End, e.Last)
	case e.Spec != b.SpecHash():
		p.fault("%s has ended with another spec", e.ID)
	}
}

// claims checks that there is a task for the new epoch, that it was ready, and that no other was
// before it. Tasks of before that were claimed and are waiting have been returned by the same edit.
func (p *pair) claims() {
	if p.after.LastEpoch == p.before.LastEpoch {
		return
	}

	i := slices.IndexFunc(p.after.Tasks, func(t *queue.Task) bool {
		return t.Claim != nil && t.Claim.Epoch == p.after.LastEpoch
	})
	if i < 0 {
		p.fault("the epoch %d is nobody's", p.after.LastEpoch)
		return
	}
	t := p.after.Tasks[i]

	if len(p.after.Halts) > 0 || len(t.After) > 0 || p.behind(t) {
		p.fault("%s was claimed, but it is held: halts %v, after %v, group %q", t.ID, p.after.Halts,
			t.After, t.Group)
	}
	if most, n := p.after.Policy.Slots, p.claimed(); most > 0 && n > most {
		p.fault("%d tasks are claimed at a time, %d are allowed", n, most)
	}

	for _, other := range p.after.Tasks {
		if other.State == queue.Waiting && other.Delay().At.IsZero() && len(other.After) == 0 &&
			!p.behind(other) && first(other, t) {
			p.fault("%s was claimed before %s", t.ID, other.ID)
		}
	}
}

// sameAttempt reports whether a and b are the same except for their time: an ended task may not
// have that of its last attempt (spec §33.5).
func sameAttempt(a, b queue.Attempt) bool {
	a.At, b.At = time.Time{}, time.Time{}
	return a == b
}

// first reports whether a is to be claimed before b.
func first(a, b *queue.Task) bool {
	return a.Priority < b.Priority || a.Priority == b.Priority && a.Seq < b.Seq
}

// behind reports whether the group of t holds it: another task of the group is claimed, or came
// before it and t is not claimed by others.
func (p *pair) behind(t *queue.Task) bool {
	return t.Group != "" && slices.ContainsFunc(p.after.Tasks, func(other *queue.Task) bool {
		return other.ID != t.ID && other.Group == t.Group && (other.Claim != nil || other.Seq < t.Seq)
	})
}

func (p *pair) claimed() (n int64) {
	for _, t := range p.after.Tasks {
		if t.Claim != nil {
			n++
		}
	}
	return n
}
