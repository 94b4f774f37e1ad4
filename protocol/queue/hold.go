package queue

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A HoldKind is a reason why a task does not run (spec §34).
type HoldKind string

const (
	HeldByHalt       HoldKind = "halted"
	HeldByPermits    HoldKind = "permits"
	HeldBySlots      HoldKind = "slots"
	HeldByTime       HoldKind = "notBefore"
	HeldByDelay      HoldKind = "delay"
	HeldByDependency HoldKind = "after"
	HeldByGroup      HoldKind = "group"
	HeldByPerson     HoldKind = "blocked"
	HeldByAttempts   HoldKind = "dead"
	HeldByClaim      HoldKind = "claimed" // it runs
	HeldByAnswer     HoldKind = "open"    // it is a question
)

// A Hold says why a task does not run. Members that do not apply are zero.
type Hold struct {
	Kind    HoldKind
	By      string        // of a halt: who; of a claim: its participant
	Reason  string        // of a halt, or of a person's block
	Task    string        // the dependency, or the head of the group
	State   string        // of Task
	Until   time.Time     // of a time or delay
	Left    time.Duration // the same
	Claimed int64         // of slots: how many claims there are
}

// String says it in words.
func (h Hold) String() string {
	switch h.Kind {
	case HeldByHalt:
		return fmt.Sprintf("halted by %s: %s", h.By, h.Reason)
	case HeldByPermits:
		return "no permit left"
	case HeldBySlots:
		return fmt.Sprintf("all slots are taken: %d claimed", h.Claimed)
	case HeldByTime, HeldByDelay:
		return fmt.Sprintf("not before %s", h.Until.Format(time.RFC3339))
	case HeldByDependency:
		return fmt.Sprintf("after %s, which is %s", h.Task, h.State)
	case HeldByGroup:
		return fmt.Sprintf("behind %s of its group, which is %s", h.Task, h.State)
	case HeldByPerson:
		return "blocked: " + h.Reason
	case HeldByAttempts:
		return "dead: its attempts are used up"
	case HeldByAnswer:
		return "asked by " + h.By + ": it waits for an answer"
	}
	return "claimed by " + h.By
}

// A line is what is derived from a queue to say which of its tasks can be claimed.
type line struct {
	q       Queue
	seen    Seen
	claimed int64
	heads   map[string]*Task // group → its claimed task, else the one with the least seq
	states  *states
}

// states finds the states of tasks by their ids. Most queues have few tasks that wait for others, so
// it makes a map only when it has searched some times.
type states struct {
	searches int
	of       map[string]TaskState
}

// state returns the state of the task id of q.
func (s *states) state(q Queue, id string) (state TaskState, known bool) {
	const some = 16
	if s.searches++; s.searches <= some {
		if t := q.Task(id); t != nil {
			return t.State, true
		}
		return "", false
	}
	if s.of == nil {
		s.of = make(map[string]TaskState, len(q.Tasks))
		for _, t := range q.Tasks {
			s.of[t.ID] = t.State
		}
	}
	state, known = s.of[id]
	return state, known
}

func (q Queue) line(seen Seen) line {
	seen.Now = wire.Moment(seen.Now)
	l := line{q: q, seen: seen, states: &states{}}
	for _, t := range q.Tasks {
		if t.Claim != nil {
			l.claimed++
		}
		if t.Group == "" {
			continue
		}
		if l.heads == nil {
			l.heads = make(map[string]*Task)
		}
		if head := l.heads[t.Group]; head == nil || head.Claim == nil && t.Claim != nil {
			l.heads[t.Group] = t
		}
	}
	return l
}

// Holds returns everything that holds the task t of q, what is to be said first at the beginning. A
// task that nothing holds is ready.
func (q Queue) Holds(t *Task, seen Seen) (holds []Hold) {
	q.line(seen).each(t, func(h Hold) bool {
		holds = append(holds, h)
		return true
	})
	return holds
}

// Ready reports whether nothing holds t, and how many tasks of q are claimed before it then.
func (q Queue) Ready(t *Task, seen Seen) (ahead int, ready bool) {
	l := q.line(seen)
	if !l.ready(t) {
		return 0, false
	}
	for _, other := range q.Tasks {
		if other != t && l.before(other, t) && l.ready(other) {
			ahead++
		}
	}
	return ahead, true
}

func (l line) ready(t *Task) bool {
	held := false
	l.each(t, func(Hold) bool {
		held = true
		return false
	})
	return !held
}

// each calls hold with what holds t, until hold returns false.
func (l line) each(t *Task, hold func(Hold) bool) {
	if t.State == Open { // nothing else concerns a question
		hold(Hold{Kind: HeldByAnswer, By: t.Ask.Askers[0].Participant})
		return
	}
	_ = l.ofQueue(hold) && l.ofTask(t, hold)
}

// ofQueue calls hold with what holds every task.
func (l line) ofQueue(hold func(Hold) bool) bool {
	for _, h := range l.q.Halts {
		if !hold(Hold{Kind: HeldByHalt, By: h.By, Reason: h.Reason}) {
			return false
		}
	}

	if p := l.q.Permits; p.Limited && p.Left == 0 && !hold(Hold{Kind: HeldByPermits}) {
		return false
	}
	if most := l.q.Policy.Slots; most > 0 && l.claimed >= most {
		return hold(Hold{Kind: HeldBySlots, Claimed: l.claimed})
	}
	return true
}

// ofTask calls hold with what holds t in particular.
func (l line) ofTask(t *Task, hold func(Hold) bool) bool {
	now := l.seen.Now
	if t.NotBefore.After(now) {
		until := Hold{Kind: HeldByTime, Until: t.NotBefore, Left: wire.Span(now, t.NotBefore)}
		if !hold(until) {
			return false
		}
	}
	if left := t.delay.Left(l.seen.Observation); left > 0 &&
		!hold(Hold{Kind: HeldByDelay, Until: wire.Later(now, left), Left: left}) {
		return false
	}

	for _, id := range t.After {
		if !hold(Hold{Kind: HeldByDependency, Task: id, State: l.stateOf(id)}) {
			return false
		}
	}

	if head := l.heads[t.Group]; t.Group != "" && head != nil && head.ID != t.ID &&
		!hold(Hold{Kind: HeldByGroup, Task: head.ID, State: string(head.State)}) {
		return false
	}

	switch t.State {
	case Blocked:
		return hold(Hold{Kind: HeldByPerson, Reason: t.Reason, Task: t.Question})
	case Dead:
		return hold(Hold{Kind: HeldByAttempts})
	case Claimed:
		return hold(Hold{Kind: HeldByClaim, By: t.Claim.Participant})
	}
	return true
}

// stateOf returns the state of a task that another one waits for. One that is done holds nobody.
func (l line) stateOf(id string) string {
	if state, known := l.states.state(l.q, id); known {
		return string(state)
	}
	if ended, ok := l.q.endOf(id, l.seen); ok {
		return string(ended.End)
	}
	return string(EndedCancelled)
}

// before reports whether a is claimed before b, if both are ready: by priority, then in the order
// in which they came.
func (l line) before(a, b *Task) bool {
	if pa, pb := l.priority(a), l.priority(b); pa != pb {
		return pa < pb
	}
	return a.Seq < b.Seq
}

// priority returns the priority of t, with what it has gained by waiting.
func (l line) priority(t *Task) int64 {
	each := l.q.Policy.AgeAfter
	if each <= 0 {
		return t.Priority
	}
	return t.Priority - int64(max(0, wire.Span(t.EnqueuedAt, l.seen.Now))/each)
}

// first returns the index of the task to claim next, or -1.
func (l line) first() int {
	best := -1
	if !l.ofQueue(func(Hold) bool { return false }) {
		return best
	}
	for i, t := range l.q.Tasks {
		if t.State == Waiting && (best < 0 || l.before(t, l.q.Tasks[best])) &&
			l.ofTask(t, func(Hold) bool { return false }) {
			best = i
		}
	}
	return best
}

// CountReady returns how many tasks of q can be claimed at once, at most most.
func (q Queue) CountReady(seen Seen, most int) (count int) {
	seen.Now = wire.Moment(seen.Now)
	l := q.line(seen)
	if slots := q.Policy.Slots; slots > 0 {
		most = min(most, int(slots-l.claimed))
	}
	if q.Permits.Limited {
		most = min(most, int(q.Permits.Left))
	}
	for _, t := range q.Tasks {
		if count >= most {
			break
		}
		if t.State == Waiting && l.ready(t) {
			count++
		}
	}
	return count
}
