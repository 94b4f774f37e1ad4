package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A New is a task to be enqueued (spec §34.1).
type New struct {
	ID          string
	Key         string // what ID was made of; "": it was given
	Spec        Content
	Priority    int64
	After       []string
	Group       string
	Delay       time.Duration
	NotBefore   time.Time
	Expires     time.Duration // 0: never
	MaxAttempts int64
	Traceparent string // that of the producer's environment; a malformed one is ignored
	Replace     bool   // it takes the place of a waiting task of that id
}

// An EntryError says which task of several was refused.
type EntryError struct {
	Entry int // from 0
	ID    string
	Err   error
}

func (e *EntryError) Error() string { return fmt.Sprintf("task %q: %v", e.ID, e.Err) }
func (e *EntryError) Unwrap() error { return e.Err }

// Enqueue returns q with all of batch added, or an *EntryError and q. A task that is known already
// with the same spec stays as it is, whatever its state, so that a producer may repeat itself. The
// causes are ErrKnownTask, ErrClaimed, ErrEnded, ErrNoDependency, ErrCycle, ErrClosed, ErrFull, and
// ErrOnlyAsk in a queue of questions.
func (q Queue) Enqueue(batch []New, seen Seen) (Queue, error) {
	if len(batch) > 0 && IsAskQueue(q.ID) {
		return q, &EntryError{0, batch[0].ID, ErrOnlyAsk}
	}
	e := q.beginAnyway("enqueue", seen)
	e.revive()
	e.pass()

	ids := make(map[string]bool, len(batch))
	named := make(map[string]bool, len(batch))
	for _, n := range batch {
		ids[n.ID], named[n.ID] = true, true
		for _, id := range n.After {
			named[id] = true
		}
	}
	e.places = e.q.known(named)

	for i, n := range batch {
		if err := e.add(n, ids); err != nil {
			return q, &EntryError{i, n.ID, err}
		}
	}
	if err := e.checkCycles(batch); err != nil {
		return q, err
	}
	after, err := e.end()
	if err == nil {
		after.effects.Stopped = e.stopped(batch, after)
	}
	return after, err
}

// A Stopped is a task that was to be enqueued and will not run, because it is dead or has ended
// otherwise than done.
type Stopped struct {
	ID    string
	State string // dead, or how it has ended
}

// stopped returns the tasks of the batch that will not run. after is the queue after the edit,
// which may have cancelled new ones.
func (e *edit) stopped(batch []New, after Queue) []Stopped {
	all := e.known
	for _, n := range batch {
		if !e.emptied || !e.wrote[n.ID] || after.index(n.ID) >= 0 {
			continue
		}
		if ended, ok := after.EndedTask(n.ID); ok {
			all = append(all, Stopped{n.ID, string(ended.End)})
		}
	}
	return all
}

// revive makes a queue of a tombstone. What it has counted stays, and it knows no task: not even
// those that a tombstone of an earlier version names.
func (e *edit) revive() {
	if !e.q.Removed {
		return
	}
	fresh := Create(e.q.ID)
	e.q.Removed, e.q.Policy = false, fresh.Policy
	e.q.Ended, e.seen.Past, e.seen.PastKey = nil, nil, nil
	e.changed = true
}

// known returns the places of the tasks of q that are among ids.
func (q Queue) known(ids map[string]bool) map[string]int {
	places := make(map[string]int, len(ids))
	for i, t := range q.Tasks {
		if ids[t.ID] {
			places[t.ID] = i
		}
	}
	return places
}

// add adds n. batch has the ids of all that is added.
func (e *edit) add(n New, batch map[string]bool) error {
	if i, ok := e.places[n.ID]; ok {
		return e.addAgain(i, n, batch)
	}
	if ended, ok := e.endOf(n.ID); ok {
		if ended.Spec == n.Spec.Hash() && !n.Replace {
			if ended.End != EndedDone {
				e.known = append(e.known, Stopped{n.ID, string(ended.End)})
			}
			return nil
		}
		if n.Replace {
			return fmt.Errorf("%w: %s", ErrEnded, ended.End)
		}
		return ErrKnownTask
	}

	switch most := e.q.Policy.Depth; {
	case e.q.Closed:
		return ErrClosed
	case most > 0 && int64(len(e.q.Tasks)) >= most:
		return fmt.Errorf("%w: it has %d tasks", ErrFull, most)
	}

	after, err := e.openDependencies(n, batch)
	if err != nil {
		return err
	}

	e.q.LastSeq++
	t := &Task{ID: n.ID, Seq: e.q.LastSeq, State: Waiting, EnqueuedAt: e.seen.Now}
	t.fill(n, after, e.seen)
	e.places[n.ID] = len(e.q.Tasks)
	e.q.Tasks = append(e.tasks(), t)
	e.q.Counters.Enqueued++
	e.written(n)
	return nil
}

// addAgain adds n although task i has its id.
func (e *edit) addAgain(i int, n New, batch map[string]bool) error {
	t := e.q.Tasks[i]
	switch {
	case !n.Replace && t.SpecHash() == n.Spec.Hash():
		if t.State == Dead {
			e.known = append(e.known, Stopped{n.ID, string(Dead)})
		}
		return nil
	case !n.Replace:
		return ErrKnownTask
	case t.State != Waiting:
		return fmt.Errorf("%w: it is %s", ErrClaimed, t.State)
	}

	after, err := e.openDependencies(n, batch)
	if err != nil {
		return err
	}
	e.own(i).fill(n, after, e.seen)
	e.written(n)
	return nil
}

// fill sets what n says about t.
func (t *Task) fill(n New, after []string, seen Seen) {
	t.Key, t.Spec, t.Priority, t.Group, t.After = n.Key, n.Spec.stored(), n.Priority, n.Group, after
	t.MaxAttempts, t.Traceparent = n.MaxAttempts, trace.Normal(n.Traceparent)
	if t.NotBefore = n.NotBefore; !t.NotBefore.IsZero() {
		t.NotBefore = wire.Moment(t.NotBefore)
	}
	t.delay = timerMember{Timer: startTimer(n.Delay, seen.Observation)}
	t.expiry = timerMember{Timer: startTimer(n.Expires, seen.Observation)}
}

// written notes that the task of n was added or replaced.
func (e *edit) written(n New) {
	if e.wrote == nil {
		e.wrote = make(map[string]bool)
	}
	e.wrote[n.ID] = true
	if !n.Spec.Inline() {
		e.q.effects.Specs = append(e.q.effects.Specs, NewSpec{n.ID, n.Spec})
	}
	e.changed = true
}

// openDependencies returns the tasks that n has to wait for: those that are not done yet.
func (e *edit) openDependencies(n New, batch map[string]bool) (open []string, err error) {
	for _, id := range n.After {
		if slices.Contains(open, id) {
			continue
		}
		if ended, ok := e.endOf(id); ok {
			if ended.End != EndedDone {
				open = append(open, id)
			}
			continue
		}
		if _, known := e.places[id]; !known && !batch[id] {
			return nil, fmt.Errorf("%w: %q", ErrNoDependency, id)
		}
		open = append(open, id)
	}
	return open, nil
}

// endOf returns the task id if it has ended.
func (e *edit) endOf(id string) (Ended, bool) {
	_, there := e.places[id]
	if e.places == nil {
		there = e.q.index(id) >= 0
	}
	if there {
		return e.q.EndedTask(id)
	}
	return e.q.endOf(id, e.seen)
}

// endOf returns the task id if it has ended, also long ago.
func (q Queue) endOf(id string, seen Seen) (Ended, bool) {
	ended, ok := q.EndedTask(id)
	if !ok && seen.Past != nil {
		return seen.Past(id)
	}
	return ended, ok
}

// checkCycles refuses a batch with a task that would wait for itself, or for one that does: tasks
// wait for those they name, and for the one before them in their group.
func (e *edit) checkCycles(batch []New) error {
	linked := func(n New) bool { return len(n.After) > 0 || n.Group != "" }
	if !slices.ContainsFunc(batch, linked) {
		return nil // they wait for none
	}

	edges, last := make(map[string][]string, len(e.q.Tasks)), make(map[string]string)
	for _, t := range e.q.Tasks {
		edges[t.ID] = t.After
		if t.Group == "" {
			continue
		}
		if before := last[t.Group]; before != "" {
			edges[t.ID] = append(slices.Clip(t.After), before)
		}
		last[t.Group] = t.ID
	}

	passed := make(map[string]bool, len(edges))
	for i, n := range batch {
		if !e.wrote[n.ID] {
			continue
		}
		if path := cycle(n.ID, edges, passed); path != nil {
			return &EntryError{i, n.ID, fmt.Errorf("%w: %v", ErrCycle, path)}
		}
	}
	return nil
}

// cycle returns a path from id to a task that is on it already, or nil. It adds to passed the tasks
// from which there is none.
func cycle(id string, edges map[string][]string, passed map[string]bool) []string {
	type step struct {
		id   string
		next int
	}

	path, on := []step{{id: id}}, map[string]bool{id: true}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.next == len(edges[at.id]) {
			passed[at.id], on[at.id] = true, false
			path = path[:len(path)-1]
			continue
		}

		next := edges[at.id][at.next]
		at.next++
		switch {
		case on[next]:
			ids := make([]string, 0, len(path)+1)
			for _, s := range path {
				ids = append(ids, s.id)
			}
			return append(ids, next)
		case !passed[next]:
			on[next] = true
			path = append(path, step{id: next})
		}
	}
	return nil
}
