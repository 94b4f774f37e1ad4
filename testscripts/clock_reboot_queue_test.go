package testscripts

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// rebootedClaims are claims whose claimers a reboot has ended: one by its process alone, one with
// the call known of TestClockReboot, and one with a deadline; and a task that was delayed.
type rebootedClaims struct{ *queueRun }

const (
	rebootedDelay    = 30 * time.Second
	rebootedDeadline = 2 * time.Hour
)

func (r *rebootedClaims) make(known observe.Process) {
	for _, id := range []string{"alone", "called", "limited", "delayed"} {
		n := queue.New{ID: id, Spec: "{}"}
		if id == "delayed" {
			n.Delay = rebootedDelay
		}
		r.add(n)
	}
	for _, who := range []queue.Claimer{{}, {Operation: "build", Call: "known"},
		{Deadline: rebootedDeadline}} {
		who.Process = known
		if who.Call == "" {
			who.Process = r.w.start()
		}
		who.PID = who.Process.PID
		who.Participant = fmt.Sprint("w", who.PID)
		r.take(who)
	}
}

// ended compares how the attempt at a task has ended: "" if it goes on.
func (r *rebootedClaims) ended(q queue.Queue, id string, want queue.End) {
	r.t.Helper()
	task := q.Task(id)
	charged := int64(0)
	if want.Failure() {
		charged = 1
	}
	if task.Last.End != want || task.Charged != charged || (task.State == queue.Claimed) != (want == "") {
		r.t.Errorf("%s is %s, has ended %q, and was charged %d; want %q, %d", id, task.State,
			task.Last.End, task.Charged, want, charged)
	}
}

// judged checks what a look finds that has the evidence about the process of a claimer.
func (r *rebootedClaims) judged(known observe.Evidence) {
	r.t.Helper()
	of := map[observe.Evidence]queue.End{observe.Rebooted: queue.Rebooted}[known]
	q := r.edit(queue.Queue.Pass)
	r.ended(q, "alone", of)
	r.ended(q, "limited", of)
	if known == observe.Stale {
		of = queue.Crashed
	}
	r.ended(q, "called", of)
	if left := q.Task("delayed").Delay().Left(r.w.observe()); left > rebootedDelay {
		r.t.Errorf("delayed for %v", left)
	}
}

// judgedLater checks what a look finds after two thresholds.
func (r *rebootedClaims) judgedLater(known observe.Evidence) {
	r.t.Helper()
	of := map[observe.Evidence]queue.End{observe.Rebooted: queue.Rebooted}[known]
	q := r.edit(queue.Queue.Pass)
	r.ended(q, "alone", of)
	r.ended(q, "limited", of)
	if of == "" {
		of = queue.Crashed
	}
	r.ended(q, "called", of)
}

// judgedInTheEnd checks that nothing is left claimed or delayed when the clock is right.
func (r *rebootedClaims) judgedInTheEnd() {
	r.t.Helper()
	q := r.edit(queue.Queue.Pass)
	r.ended(q, "alone", queue.Rebooted)
	r.ended(q, "limited", queue.Rebooted)
	if left := q.Task("delayed").Delay().Left(r.w.observe()); left != 0 {
		r.t.Errorf("delayed for %v", left)
	}
}
