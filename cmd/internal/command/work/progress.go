package work

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/statusline"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A progress is a line on the terminal of a user who waits for a queue to be empty: how many tasks
// were done since it began, by anybody, and how many are left. A nil progress shows nothing.
type progress struct {
	line   *statusline.Line
	id     string
	ledger *fileops.Ledger // its own, because another goroutine reads the other one
	clock  *time.Timer

	began        time.Time // zero: it has not read the queue yet
	done, failed int64     // before that
}

// newProgress returns a progress if the worker will end by itself, and works in the foreground of a
// terminal for people.
func (c *work) newProgress(env *cli.Env) *progress {
	if c.Once || c.Follow || c.Verbose {
		return nil
	}
	line := statusline.New(env.Stderr)
	if line == nil {
		return nil
	}
	l, err := env.Open()
	if err != nil {
		return nil
	}

	p := &progress{line: line, id: string(c.Queue), ledger: l,
		clock: time.NewTimer(statusline.Every)}
	p.show()
	return p
}

// due returns a channel that receives a value when it is time for show.
func (p *progress) due() <-chan time.Time {
	if p == nil {
		return nil
	}
	return p.clock.C
}

// show reads the queue and rewrites the line. The first time it only takes note of what was done
// before. A queue that takes long to read is read less often.
func (p *progress) show() {
	start := time.Now()
	q, err := p.ledger.ReadQueue(p.id)
	const share = 20 // of the time, for reading
	p.clock.Reset(max(statusline.Every, share*time.Since(start)))
	if err == nil {
		p.draw(q, start)
	}
}

func (p *progress) draw(q queue.Queue, now time.Time) {
	failed := int64(0)
	for _, e := range q.Counters.Ends {
		if e.End.Failure() {
			failed += e.Count
		}
	}
	if p.began.IsZero() {
		p.began, p.done, p.failed = now, q.Counters.Done, failed
		return
	}

	left := 0
	for _, t := range q.Tasks {
		if t.State != queue.Dead {
			left++
		}
	}

	done := q.Counters.Done - p.done
	p.line.Draw(fmt.Sprintf("%s: %d done, %d failed, %d left%s", p.id, done, failed-p.failed, left,
		rate(done, now.Sub(p.began))))
}

// erase removes the line.
func (p *progress) erase() {
	if p != nil {
		p.line.Erase()
	}
}

// rate returns how fast tasks were done, to be added to a line: "" if that cannot be told yet.
func rate(done int64, in time.Duration) string {
	if done == 0 || in < time.Second {
		return ""
	}
	if each := float64(done) / in.Seconds(); each >= 1 {
		return fmt.Sprintf(", %.1f a second", each)
	}
	return fmt.Sprintf(", %.1f a minute", float64(done)/in.Minutes())
}
