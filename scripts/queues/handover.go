//go:build linux

package queues

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// The clients of a handover, each on a host of its own.
const (
	clientA = 1
	clientB = 2
)

const (
	// lasting is longer than the silence after which a call is dead: nothing may happen in it.
	lasting = 25 * time.Second
	// waiting is how long a claim and a delay of a handover last.
	waiting = 8 * time.Second
	// atMost is how long it may take until another host takes what it may take.
	atMost = 2 * time.Minute
)

// Handover checks when the second host takes the tasks that the first one has claimed (spec §35.2):
// never while the claimer lives, nor when it was killed, if only its own host can know; but after a
// deadline, and when the call of an attempt is silent. It tells how long that takes.
func Handover(p Place) (Report, error) {
	w, err := newWorld(p)
	if err != nil {
		return Report{}, err
	}

	took := map[string]int64{"delay": w.afterDelay(), "deadline": w.afterDeadline(),
		"own host": w.afterOwnLook(), "heartbeats": w.afterSilence()}
	w.read()
	r := w.found(2)
	r.Took = took
	return r, nil
}

// must runs a command, which must end with a status.
func (w *world) must(status, client int, args ...string) call {
	c := w.run(client, 0, "", args...)
	if c.status != status {
		w.fault("want the status %d: %v", status, c)
	}
	return c
}

// epochOf returns the epoch that dpl-claim has printed, or 0.
func (w *world) epochOf(c call) string {
	if fields := strings.Fields(c.out); c.status == 0 && len(fields) == 2 {
		return fields[1]
	}
	w.fault("it should have claimed: %v", c)
	return "1000000"
}

// take waits on host b until task can be claimed, settles it, and checks that the attempt old is
// over. It returns how long after a time that was, in milliseconds.
func (w *world) take(task, old string, since, least time.Duration) int64 {
	me := strconv.Itoa(os.Getpid())
	c := w.must(0, clientB, "dpl-claim", "q", "--wait", "--task", task, "--timeout", atMost.String(),
		"--pid", me)
	took := c.to - since
	if took < least {
		w.fault("taken after %v: %v", took, c)
	}

	w.stale(task, old)
	w.must(0, clientB, "dpl-settle", "q", "--task", task, "--epoch", w.epochOf(c), "--done")
	return took.Milliseconds()
}

// stale checks that host a cannot settle an attempt that is over, and changes nothing.
func (w *world) stale(task, epoch string) {
	if epoch == "" {
		return
	}
	before, _ := w.ledger.ReadQueue("q")
	w.must(5, clientA, "dpl-settle", "q", "--task", task, "--epoch", epoch, "--done")
	if after, _ := w.ledger.ReadQueue("q"); after.Revision != before.Revision {
		w.fault("a settlement of the old attempt %s has made revision %d", epoch, after.Revision)
	}
}

// afterDelay has a worker on host b wait for a delay of host a.
func (w *world) afterDelay() int64 {
	c := w.must(0, clientA, "dpl-enqueue", "q", "--id", "delay", "--delay", waiting.String(), "--", "true")
	done := w.run(clientB, atMost, "", "dpl-work", "q", "--until-done")
	w.read()
	took, ended := done.to-c.from, w.q.Counters.Done
	if done.status != 0 || ended != 1 || took < waiting {
		w.fault("after %v, with %d tasks done: %v", took, ended, done)
		w.must(0, clientA, "dpl-enqueue", "q", "--cancel", "delay")
	}
	return took.Milliseconds()
}

// afterDeadline has host b wait for the deadline of a claim on host a.
func (w *world) afterDeadline() int64 {
	w.must(0, clientA, "dpl-enqueue", "q", "--id", "deadline", "--", "true")
	c := w.must(0, clientA, "dpl-claim", "q", "--participant", "a", "--deadline", waiting.String())
	return w.take("deadline", w.epochOf(c), c.from, waiting)
}

// afterOwnLook has host b wait for a claim that only its own host can judge: first it is alive,
// then it is killed, then its host looks.
func (w *world) afterOwnLook() int64 {
	holder := exec.Command("sleep", "3600")
	if err := holder.Start(); err != nil {
		w.fault("%v", err)
		return 0
	}
	defer w.bury(holder)

	w.must(0, clientA, "dpl-enqueue", "q", "--id", "own", "--", "true")
	old := w.epochOf(w.must(0, clientA, "dpl-claim", "q", "--pid", strconv.Itoa(holder.Process.Pid)))
	w.leaves("own", lasting)
	w.bury(holder)
	w.leaves("own", lasting)

	since := time.Since(w.started)
	w.must(0, clientA, "dpl-cleanup")
	w.must(0, clientA, "dpl-queue", "q", "--permits", "all") // an edit: it looks at the claims
	return w.take("own", old, since, 0)
}

// leaves checks that host b does not take a claimed task for a time, whatever it does.
func (w *world) leaves(task string, long time.Duration) {
	me := strconv.Itoa(os.Getpid())
	poll.Within(long, func() bool {
		w.must(0, clientB, "dpl-cleanup")
		w.must(1, clientB, "dpl-claim", "q", "--pid", me)
		w.must(76, clientB, "dpl-claim", "q", "--task", task, "--pid", me)
		return w.failed()
	})
}

// afterSilence has host b wait for an attempt of dpl-work on host a, which it leaves alone while
// that lives. Then all its processes are killed, as if their host had stopped.
func (w *world) afterSilence() int64 {
	w.must(0, clientA, "dpl-enqueue", "q", "--id", "silent", "--", "sleep", "3600")
	worker := w.command(clientA, "dpl-work", "q", "--once")
	if err := worker.Start(); err != nil {
		w.fault("%v", err)
		return 0
	}

	var claim *queue.Claim
	poll.Within(hanging, func() bool {
		w.read()
		t := w.q.Task("silent")
		claim = t.Claim
		return claim != nil && len(w.processes(claim.Epoch)) > 0
	})
	if claim == nil {
		w.fault("dpl-work --once has not claimed in %v", hanging)
		worker.Process.Kill()
		worker.Wait()
		return 0
	}
	w.leaves("silent", lasting)

	all := append([]int{claim.PID, claim.Keeper.PID}, w.processes(claim.Epoch)...)
	if slices.Min(all) <= 1 {
		w.fault("the attempt has no keeper, or no process: %v", all)
		return 0
	}
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // none sees another die
		for _, pid := range all {
			syscall.Kill(pid, sig)
		}
	}
	worker.Wait()
	since := time.Since(w.started)
	return w.take("silent", strconv.FormatInt(claim.Epoch, 10), since, 0)
}
