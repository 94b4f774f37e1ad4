package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// A Queue is a queue to show, with an observation and where its tasks stand.
type Queue struct {
	queue.Queue
	Seen   queue.Seen
	Places []queue.Place
	Report *Report // the newest; nil: there is none, or nobody has looked
}

// A Report is where the report of an attempt is.
type Report struct {
	Task  string
	Epoch int64
	Path  string
}

// NewQueue returns q as seen.
func NewQueue(q queue.Queue, seen queue.Seen) Queue {
	return Queue{Queue: q, Seen: seen, Places: q.Places(seen)}
}

// A Count says how many tasks of a queue are in each state. The ready ones are waiting, too.
type Count struct{ Waiting, Ready, Claimed, Blocked, Dead, Open int }

// Count counts the tasks of q that have not ended.
func (q Queue) Count() (c Count) {
	for _, p := range q.Places {
		switch p.State {
		case queue.Waiting:
			c.Waiting++
		case queue.Claimed:
			c.Claimed++
		case queue.Blocked:
			c.Blocked++
		case queue.Dead:
			c.Dead++
		case queue.Open:
			c.Open++
		}
		if p.Ready() {
			c.Ready++
		}
	}
	return c
}

// An Oldest is the task of a priority that has been waiting for longest.
type Oldest struct {
	queue.Place
	Waiting int // how many tasks of that priority wait
}

// Oldest returns the oldest waiting task of each priority, the lowest first, as they are claimed.
func (q Queue) Oldest() (all []Oldest) {
	at := make(map[int64]int)
	for _, p := range q.Places {
		if p.State != queue.Waiting {
			continue
		}
		i, known := at[p.Priority]
		if !known {
			i = len(all)
			at[p.Priority], all = i, append(all, Oldest{Place: p})
		}
		all[i].Waiting++
		if p.EnqueuedAt.Before(all[i].EnqueuedAt) {
			all[i].Place = p
		}
	}

	slices.SortFunc(all, func(a, b Oldest) int { return cmp.Compare(a.Priority, b.Priority) })
	return all
}

// OldestWait returns how long the task that was enqueued first has been waiting. It reports false
// if none waits.
func (q Queue) OldestWait() (age time.Duration, any bool) {
	for _, o := range q.Oldest() {
		if waits := q.Seen.Now.Sub(o.EnqueuedAt); !any || waits > age {
			age, any = waits, true
		}
	}
	return age, any
}

// Lately is the time for which the tasks are shown that have ended.
const Lately = time.Hour

// DoneWithin returns how many tasks were done in the last d. all is false if there may have been
// more, because the file names only the newest that have ended.
func (q Queue) DoneWithin(d time.Duration) (n int, all bool) {
	since := q.Seen.Now.Add(-d)
	for _, e := range q.Ended {
		if e.End == queue.EndedDone && e.At.After(since) {
			n++
		}
	}

	forgotten := q.Counters.Ended() > int64(len(q.Ended))
	return n, !forgotten || len(q.Ended) > 0 && !q.Ended[0].At.After(since)
}

// MeanRun returns how long attempts took on the average. It reports false if none has been
// settled.
func (q Queue) MeanRun() (mean time.Duration, known bool) {
	settled := q.Counters.Settled()
	if settled == 0 {
		return 0, false
	}
	return q.Counters.Ran / time.Duration(settled), true
}

// MeanWait returns how long tasks waited for their first claim, on the average. It reports false
// if none was claimed.
func (q Queue) MeanWait() (mean time.Duration, known bool) {
	c := q.Counters
	if c.FirstClaims == 0 {
		return 0, false
	}
	return c.Waited / time.Duration(c.FirstClaims), true
}

// Stuck returns the tasks of q that are blocked or dead: somebody has to do something about them.
func (q Queue) Stuck() (all []queue.Place) {
	for _, p := range q.Places {
		if p.State == queue.Blocked || p.State == queue.Dead {
			all = append(all, p)
		}
	}
	return all
}

// Questions returns the questions of q that are open, and would be after an edit now: oldest first.
func (q Queue) Questions() (all []*queue.Task) {
	if !queue.IsAskQueue(q.ID) {
		return nil
	}
	after, err := q.Pass(q.Seen)
	if err != nil {
		after = q.Queue
	}
	for _, t := range after.Tasks {
		if t.Ask != nil {
			all = append(all, t)
		}
	}
	return all
}
