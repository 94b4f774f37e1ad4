package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Count says how many tasks q has.
func Count(q model.Queue) string {
	c := q.Count()
	if queue.IsAskQueue(q.ID) {
		return fmt.Sprintf("%d open; %d allowed, %d denied, %d answered, %d timed out, %d withdrawn",
			len(q.Questions()), q.Counters.Allowed, q.Counters.Denied, q.Counters.Answered, q.Counters.TimedOut,
			q.Counters.Withdrawn)
	}
	return fmt.Sprintf("%d waiting, %d of them ready; %d claimed, %d blocked, %d dead", c.Waiting,
		c.Ready, c.Claimed, c.Blocked, c.Dead)
}

// Halt says who has halted q, when and why.
func Halt(q model.Queue, h queue.Halt) string {
	text := "halted by " + h.By
	if !h.At.IsZero() {
		text += fmt.Sprintf(" %s, %s", h.At.UTC().Format(time.RFC3339), Ago(q.Seen.Now.Sub(h.At)))
	}
	text += ": " + h.Reason
	if h.Details != "" {
		text += " (" + h.Details + ")"
	}
	return text
}

// Speed returns how fast the tasks of q are done, in words: how many were lately, and how long
// tasks have waited and run. It returns "" if none was claimed ever.
func Speed(q model.Queue) (all []string) {
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

// QueueLimits returns what limits how many tasks of q can be claimed, in words.
func QueueLimits(q model.Queue) (all []string) {
	if most := q.Policy.Slots; most > 0 {
		all = append(all, fmt.Sprintf("%d of %d slots taken", q.Count().Claimed, most))
	}
	if p := q.Permits; p.Limited {
		all = append(all, fmt.Sprintf("%s left", Plural(int(p.Left), "permit")))
	}
	if q.Closed {
		all = append(all, "closed: it takes no more tasks")
	}
	return all
}

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Goal returns the goal of q in words, or "" if it has none.
func Goal(q model.Queue) string {
	switch g := q.Goal; {
	case g == nil:
		return ""
	case g.Completed:
		return "completed: " + g.Description
	default:
		return "open: " + g.Description
	}
}
