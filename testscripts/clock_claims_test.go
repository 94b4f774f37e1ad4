//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestClockClaims sets the clock, or suspends the machine, while real workers have tasks, and
// others wait for their time: for this the ledger's files are changed. Nothing is taken or ready,
// or expires, before as much time has passed as should, and then everything is (spec §33.3, §35.2).
func TestClockClaims(t *testing.T) {
	t.Parallel()
	const d = 5 * time.Minute
	if up := monotonic(t); up < d+time.Minute {
		t.Skipf("needs a machine that has been up for %v, not %v", d+time.Minute, up)
	}

	o := startObserved(t)
	o.claims(o.shell)
	o.waiting(d)
	queue := filepath.Join(o.dir, "ledger/queues/q.json")
	for _, step := range []time.Duration{time.Hour, -time.Hour, -time.Hour, month, -12 * month} {
		o.stepped("queues/q.json", step)
		o.stepped("operations/q.run.2.json", step)
		before, err := os.ReadFile(queue)
		if err != nil {
			t.Fatal(err)
		}
		o.look(o.shell)
		if after, err := os.ReadFile(queue); string(after) != string(before) {
			t.Fatalf("after a step by %v (%v):\n%s\nwas:\n%s", step, err, after, before)
		}
	}

	o.aged("queues/q.json", d)
	for _, id := range []string{"delayed", "failed", "snoozed"} {
		got := o.run("dpl-claim", "q", "--participant", id, "--deadline", "1h")
		if !strings.HasPrefix(got, id+" ") {
			t.Errorf("a worker gets %q, want %s", got, id)
		}
	}
	o.exits("1", "dpl-claim", "q", "--participant", "another", "--deadline", "1h")
	o.want("queues/q.json", "tasks.*.taskId=shell run limited delayed failed snoozed",
		"tasks.*.state=claimed claimed absent claimed claimed claimed", "tasks.0.claim.epoch=1",
		"tasks.1.claim.epoch=2", "tasks.2.lastEnd=timedOut", "tasks.2.lastReason=deadline",
		"ended.*.taskId=expiring", "ended.*.end=expired")
	o.shell("0", "dpl-settle q --task shell --epoch 1 --done")
	settled := o.member("queues/q.json", "revision")
	o.shell("0", "kill $(cat run)")
	o.shell("0", "dpl-wait --queue q --for change --timeout 60 --since "+settled)
	o.want("queues/q.json", "tasks.0.taskId=run", "tasks.0.lastEnd=released")
}

// waiting adds tasks to the queue that wait for d: one that has a deadline, and is claimed; one
// that is delayed, that has failed, that was put off; and one that expires.
func (o *observed) waiting(d time.Duration) {
	o.t.Helper()
	o.shell("0", "dpl-enqueue q --id limited -- true; dpl-claim q --pid $PPID --deadline "+d.String())
	o.shell("0", "dpl-enqueue q --id delayed --delay "+d.String()+" -- true")
	o.shell("0", "dpl-enqueue q --id failed -- true; dpl-queue q --backoff "+d.String())
	o.shell("0", "dpl-claim q --participant p --deadline 1h; dpl-settle q --task failed --epoch 4 --fail")
	o.shell("0", "dpl-enqueue q --id snoozed -- true; dpl-claim q --participant p --deadline 1h")
	o.shell("0", "dpl-settle q --task snoozed --epoch 5 --snooze "+d.String())
	o.shell("0", "dpl-enqueue q --id expiring --delay 1h --expires "+d.String()+" -- true")
}

// monotonic returns the time since the machine was booted, without that in which it was suspended.
func monotonic(t *testing.T) time.Duration {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
