package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

// Speed returns how fast the tasks of q are done, in words: how many were lately, and how long
// tasks have waited and run. It returns "" if none was claimed ever.
func (q Queue) Speed() (all []string) {
	c := q.Counters
	if c.Claimed == 0 {
		return nil
	}

	done := make([]string, 2)
	for i, span := range []struct {
		time.Duration
		name string
	}{{time.Minute, "minute"}, {time.Hour, "hour"}} {
		n, exact := q.DoneWithin(span.Duration)
		least := ""
		if !exact {
			least = "at least "
		}
		done[i] = fmt.Sprintf("%s%d in the last %s", least, n, span.name)
	}
	all = append(all, fmt.Sprintf("%d done, %s", c.Done, strings.Join(done, ", ")))

	if wait, known := q.MeanWait(); known {
		all = append(all, times("tasks waited", wait, c.LongestWait))
	}
	if run, known := q.MeanRun(); known {
		all = append(all, times("attempts took", run, c.LongestRun))
	}
	return all
}

func times(what string, mean, longest time.Duration) string {
	return fmt.Sprintf("%s %s on average, %s at most", what, Span(mean), Span(longest))
}

// Limits returns what limits how many tasks of q can be claimed, in words.
func (q Queue) Limits() (all []string) {
	if most := q.Policy.Slots; most > 0 {
		all = append(all, fmt.Sprintf("%d of %d slots taken", q.Count().Claimed, most))
	}
	if p := q.Permits; p.Limited {
		all = append(all, fmt.Sprintf("%s left", plural(int(p.Left), "permit")))
	}
	if q.Closed {
		all = append(all, "closed: it takes no more tasks")
	}
	return all
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// AttemptEnding returns how an attempt ended, in words: "failed: exit status 3".
func AttemptEnding(a queue.Attempt) string {
	text := string(a.End)
	if a.Reason != "" && a.Reason != string(a.End) {
		text += ": " + a.Reason
	}
	return text
}

// GoalText returns the goal of q in words, or "" if it has none.
func (q Queue) GoalText() string {
	switch g := q.Goal; {
	case g == nil:
		return ""
	case g.Completed:
		return "completed: " + g.Description
	default:
		return "open: " + g.Description
	}
}
