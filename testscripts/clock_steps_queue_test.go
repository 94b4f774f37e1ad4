package testscripts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// TestClockStepsQueue is TestClockSteps for tasks. No claim of a live process is taken. That of one
// that was killed ends at once, and one with a deadline when it is that old. Delays, backoffs and
// expiries take as long as they should, on the monotonic clock (spec §33.3, §35.2).
func TestClockStepsQueue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		w := newClockWorld(seed)
		r := newQueueRun(t, w, newTestLedger(t))
		for range 150 {
			r.turn()
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, strings.Join(w.story, "\n"))
			}
		}
	}
}

// queueBackoff is the pause after each failure.
const queueBackoff = 20 * time.Second

// queueRun is a queue whose tasks are claimed, and wait, while the clocks are set.
type queueRun struct {
	t      *testing.T
	w      *clockWorld
	ledger *fileops.Ledger
	tasks  []*clockTask // that have not ended, in the order of the queue
	made   int
}

// A clockTask is what really happens to a task. Times are on the monotonic clock.
type clockTask struct {
	id      string
	due     time.Duration // it may be claimed then
	expires time.Duration // it ends then, unless it was claimed; 0: never

	epoch    int64 // of its claim; 0: it waits
	process  observe.Process
	deadline time.Duration // of its claim; 0: none
}

func newQueueRun(t *testing.T, w *clockWorld, l *fileops.Ledger) *queueRun {
	t.Helper()
	r := &queueRun{t: t, w: w, ledger: l}
	r.edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Control(queue.Control{By: "operator", Create: true, Policy: func(p *queue.Policy) {
			p.MaxAttempts, p.Backoff = 1000, []time.Duration{queueBackoff}
		}}, seen)
	})
	return r
}

func (r *queueRun) edit(verb func(queue.Queue, queue.Seen) (queue.Queue, error)) queue.Queue {
	r.t.Helper()
	e, err := r.ledger.EditQueue("q", fileops.OrCreate,
		func(q queue.Queue, _ queue.Seen) (queue.Queue, error) {
			return verb(q, r.ledger.SeeQueue("q", awake(r.w.observe())))
		})
	if err != nil {
		r.t.Fatalf("%v\n%s", err, strings.Join(r.w.story, "\n"))
	}
	return e.After
}

// turn lets time pass and events happen, makes a janitor's pass, and lets another worker come.
func (r *queueRun) turn() {
	r.t.Helper()
	w := r.w
	w.pass(time.Duration(w.rand.IntN(4000)) * time.Millisecond)
	if w.rand.IntN(3) == 0 {
		w.upset()
	}
	for _, c := range r.tasks {
		if c.epoch != 0 && w.rand.IntN(15) == 0 {
			w.dead[c.process] = true
			w.tell("the worker of %s is killed", c.id)
		}
	}

	r.judged(r.edit(queue.Queue.Pass))
	for len(r.tasks) < 8 {
		r.enqueue()
	}
	r.claim()
	for _, c := range slices.Clone(r.tasks) {
		if c.epoch != 0 && w.rand.IntN(10) == 0 {
			r.settle(c)
		}
	}
}

// enqueue adds a task that may be delayed, or expire.
func (r *queueRun) enqueue() {
	r.made++
	c := &clockTask{id: fmt.Sprint("t", r.made), due: r.w.monotonic}
	n := queue.New{ID: c.id, Spec: "{}"}
	switch r.w.rand.IntN(3) {
	case 0:
		n.Delay = 10 * time.Second
		c.due += n.Delay
	case 1:
		n.Delay, n.Expires = time.Minute, 30*time.Second
		c.due, c.expires = c.due+n.Delay, c.due+n.Expires
	}
	r.add(n)
	r.tasks = append(r.tasks, c)
}

func (r *queueRun) add(n queue.New) {
	r.t.Helper()
	r.edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Enqueue([]queue.New{n}, seen)
	})
}

// claim is a worker who comes. It gets the first task that is due.
func (r *queueRun) claim() {
	r.t.Helper()
	p := r.w.start()
	who := queue.Claimer{Participant: fmt.Sprint("w", p.PID), PID: p.PID, Process: p}
	if r.w.rand.IntN(3) == 0 {
		who.Deadline = 40 * time.Second
	}
	got := r.take(who)
	for _, c := range r.tasks {
		if c.epoch != 0 || c.due > r.w.monotonic {
			continue
		}
		if got == nil || got.ID != c.id {
			r.t.Errorf("a worker gets %v, want %s", got, c.id)
			return
		}
		c.epoch, c.process, c.expires, c.deadline = got.Claim.Epoch, p, 0, 0
		if who.Deadline != 0 {
			c.deadline = r.w.monotonic + who.Deadline
		}
		return
	}
	if got != nil {
		r.t.Errorf("a worker gets %s, which is not due", got.ID)
	}
}

// take claims a task, and returns it; nil if none is ready.
func (r *queueRun) take(who queue.Claimer) (got *queue.Task) {
	r.t.Helper()
	r.edit(func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
		after, got, err = q.Claim(who, "", seen)
		return after, err
	})
	return got
}

// settle ends the attempt at a task.
func (r *queueRun) settle(c *clockTask) {
	s := queue.Settlement{Task: c.id, Epoch: c.epoch}
	c.epoch, c.due = 0, r.w.monotonic
	switch r.w.rand.IntN(3) {
	case 0:
		s.End = queue.Done
		r.forget(c)
	case 1:
		s.End = queue.Failed
		c.due += queueBackoff
	case 2:
		s.End, s.Delay = queue.Snoozed, 5*time.Second
		c.due += s.Delay
	}
	r.edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Settle(s, seen) })
}

func (r *queueRun) forget(c *clockTask) {
	r.tasks = slices.DeleteFunc(r.tasks, func(o *clockTask) bool { return o == c })
}

// judged compares what a pass has found with what really happened.
func (r *queueRun) judged(q queue.Queue) {
	r.t.Helper()
	now := r.w.monotonic
	for _, c := range slices.Clone(r.tasks) {
		task := q.Task(c.id)
		if c.epoch == 0 && c.expires != 0 && now >= c.expires {
			if ended, _ := q.EndedTask(c.id); task != nil || ended.End != queue.EndedExpired {
				r.t.Errorf("%s has not expired: %+v, %+v", c.id, task, ended)
			}
			r.forget(c)
			continue
		}
		if task == nil {
			r.t.Fatalf("%s is lost", c.id)
		}

		if c.epoch != 0 {
			r.judgedClaim(c, task)
		}
		if left := task.Delay().Left(r.w.observe()); c.epoch == 0 && left != max(0, c.due-now) {
			r.t.Errorf("%s is delayed for %v, want %v", c.id, left, c.due-now)
		}
	}
}

func (r *queueRun) judgedClaim(c *clockTask, task *queue.Task) {
	r.t.Helper()
	var want queue.End
	switch {
	case r.w.dead[c.process]:
		want = queue.Crashed
	case c.deadline != 0 && r.w.monotonic >= c.deadline:
		want = queue.TimedOut
	}

	switch stands := task.Claim != nil && task.Claim.Epoch == c.epoch; {
	case stands != (want == ""):
		r.t.Errorf("the claim %d of %s stands: %t, want %q", c.epoch, c.id, stands, want)
	case !stands && (task.Last.End != want || task.Last.Epoch != c.epoch):
		r.t.Errorf("the attempt %d at %s has ended %+v, want %s", c.epoch, c.id, task.Last, want)
	}
	if want != "" {
		c.epoch, c.due = 0, r.w.monotonic+queueBackoff
	}
}
