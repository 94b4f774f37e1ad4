//go:build linux

package queues

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// script is the command of all tasks. It says when it begins and ends, whether it runs beside
// another attempt at its task, and ends in different ways until there is a file calm. Its child has
// the lock, too: the kernel kills the command itself when its dpl-work dies, and the keeper the
// rest.
const script = `exec 9>"$D/lock.$DPL_TASK"
flock -n 9 || echo "overlap $DPL_TASK $DPL_EPOCH" >>"$D/log"
echo "begin $DPL_TASK $DPL_EPOCH $$" >>"$D/log"
sleep 0.0$((DPL_EPOCH % 8 + 1))
[ -e "$D/calm" ] || case $((($$ + DPL_EPOCH) % 6)) in
0) exit 3 ;;
1) exit 75 ;;
esac
echo "end $DPL_TASK $DPL_EPOCH" >>"$D/log"
`

// use has clients use the queue at the same time, for period, and longer on a machine that is so
// slow that something has not happened then.
func (w *world) use(clients int, period time.Duration) {
	roles := []func(int, *rand.Rand){w.produce, w.claim, w.work, w.claim, w.produce, w.forge, w.operate,
		w.kill}
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			rng := w.rng(i + 1)
			for !w.over.Load() {
				roles[i/len(w.Hosts)%len(roles)](i+1, rng)
			}
		})
	}

	reading := make(chan struct{})
	go func() {
		defer close(reading)
		for !w.over.Load() {
			w.read()
			if w.shared() {
				poll.Within(20*time.Millisecond, w.over.Load) // leave something to the others
			}
		}
	}()
	poll.Within(period, w.failed)
	more := max(4*period, time.Minute) // on a busy machine some things happen late
	if w.shared() {
		more = period
	}
	poll.Within(more, func() bool { return len(w.missing()) == 0 || w.failed() })
	w.over.Store(true)
	all.Wait()
	<-reading
}

// produce adds tasks, or repeats what was added.
func (w *world) produce(client int, rng *rand.Rand) {
	kill := time.Duration(0)
	if rng.IntN(8) == 0 {
		kill = w.before(rng)
	}

	q := w.latest()
	switch what := rng.IntN(6); {
	case what == 0 || len(q.Tasks) > 40:
		w.repeat(client, rng)
	case what < 4:
		args := []string{"dpl-enqueue", "q", "--id", w.newID(client), "--priority", strconv.Itoa(rng.IntN(3))}
		if rng.IntN(2) == 0 {
			args = append(args, "--in-group", "g"+strconv.Itoa(rng.IntN(3)))
		}
		if len(q.Tasks) > 0 && rng.IntN(6) == 0 {
			args = append(args, "--after", q.Tasks[rng.IntN(len(q.Tasks))].ID)
		}
		w.run(client, kill, "", append(args, "--", "sh", w.script())...)
	default:
		w.run(client, kill, w.batch(client, rng), "dpl-enqueue", "q")
	}
}

func (w *world) script() string { return filepath.Join(w.Base, "task.sh") }

// newID returns a new id of a task.
func (w *world) newID(client int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("t%d-%d", client, len(w.ids))
	w.ids = append(w.ids, id)
	return id
}

// batch returns tasks of which the second waits for the first, and some have long specs.
func (w *world) batch(client int, rng *rand.Rand) string {
	var b strings.Builder
	first := ""
	for i := range 2 + rng.IntN(4) {
		id, more := w.newID(client), ""
		switch i {
		case 0:
			first = id
		case 1:
			more = fmt.Sprintf(`,"after":[%q]`, first)
		case 2:
			more = `,"group":"g1"`
		}
		if rng.IntN(2) == 0 {
			more += fmt.Sprintf(`,"text":%q`, strings.Repeat(id, 200))
		}
		fmt.Fprintf(&b, `{"taskId":%q,"argv":["sh",%q],"dir":%q%s}`+"\n", id, w.script(), w.Base, more)
	}
	return b.String()
}

// repeat repeats what somebody has added, as it was or with another spec.
func (w *world) repeat(client int, rng *rand.Rand) {
	w.mu.Lock()
	var added []call
	for _, c := range w.calls {
		if c.args[0] == "dpl-enqueue" && c.status == 0 && c.out != "" {
			added = append(added, c)
		}
	}
	w.mu.Unlock()
	if len(added) == 0 {
		return
	}

	old := added[rng.IntN(len(added))]
	if rng.IntN(3) > 0 {
		if c := w.run(client, 0, old.in, old.args...); !c.unknown() && (c.status != 0 || c.out != old.out) {
			w.fault("it is known, but: %v", c)
		}
		return
	}
	id := strings.Fields(old.out)[0]
	if c := w.run(client, 0, "", "dpl-enqueue", "q", "--id", id, "--", "false"); c.status != 76 {
		w.fault("%s is known with another spec: %v", id, c)
	}
}

// ends are the ends that dpl-settle can say, as flags.
var ends = map[queue.End]string{queue.Done: "--done", queue.Failed: "--fail", queue.Released: "--release",
	queue.Snoozed: "--snooze=1ms", queue.Asked: "--block=why"}

func anyEnd(rng *rand.Rand) string {
	all := []queue.End{queue.Done, queue.Done, queue.Done, queue.Failed, queue.Released, queue.Snoozed,
		queue.Asked}
	return ends[all[rng.IntN(len(all))]]
}

// claim starts a process, claims for it, and settles, or kills the process, or both.
func (w *world) claim(client int, rng *rand.Rand) {
	holder := exec.Command("sleep", "600")
	if err := holder.Start(); err != nil {
		w.fault("%v", err)
		return
	}
	defer w.bury(holder)

	mine, ok := w.claimFor(client, holder.Process.Pid)
	if !ok {
		w.await(1)
		return
	}

	switch rng.IntN(6) {
	case 0:
		w.claimFor(client, holder.Process.Pid)
	case 1, 2:
		w.bury(holder)
		w.count("claimer")
		if rng.IntN(2) == 0 {
			return
		}
	}
	w.settle(client, mine.task, mine.epoch, anyEnd(rng))
	for range rng.IntN(3) {
		w.settle(client, mine.task, mine.epoch, anyEnd(rng))
	}
}

// claimFor claims a task for a process. It returns false if there is none.
func (w *world) claimFor(client, pid int) (claimed, bool) {
	c := w.run(client, 0, "", "dpl-claim", "q", "--pid", strconv.Itoa(pid))
	if c.status != 0 {
		return claimed{}, false
	}

	mine := claimed{pid: pid, span: c.span}
	if _, err := fmt.Sscan(c.out, &mine.task, &mine.epoch); err != nil {
		w.fault("%v: %v", c, err)
	}
	w.mu.Lock()
	w.claims = append(w.claims, mine)
	w.mu.Unlock()
	return mine, true
}

// bury kills a process and waits until it is gone.
func (w *world) bury(holder *exec.Cmd) {
	if holder.ProcessState != nil {
		return
	}
	from := time.Since(w.started)
	holder.Process.Kill()
	holder.Wait()
	w.mu.Lock()
	pid := holder.Process.Pid
	w.killed[pid] = append(w.killed[pid], span{from, time.Since(w.started)})
	w.mu.Unlock()
}

func (w *world) settle(client int, task string, epoch int64, end string) call {
	return w.run(client, 0, "", "dpl-settle", "q", "--task", task, "--epoch", strconv.FormatInt(epoch, 10),
		end)
}

// forge settles attempts of others: old ones, such that never were, and claims of dpl-claim. It
// leaves alone the attempts of dpl-work, whose commands would go on.
func (w *world) forge(client int, rng *rand.Rand) {
	w.mu.Lock()
	var c claimed
	if n := len(w.claims); n > 0 {
		c = w.claims[max(0, n-1-rng.IntN(20))]
	}
	q := w.q
	w.mu.Unlock()

	switch rng.IntN(4) {
	case 0: // of an attempt that is over
		if len(q.Tasks) > 0 {
			t := q.Tasks[rng.IntN(len(q.Tasks))]
			c = claimed{task: t.ID, epoch: t.Last.Epoch}
		}
	case 1:
		c.epoch = q.LastEpoch + 1_000_000
	case 2:
		c.task = "unknown"
	}
	if c.task != "" && c.epoch > 0 {
		w.settle(client, c.task, c.epoch, anyEnd(rng))
	}
	w.await(5)
}

// operate halts and resumes the queue, cancels tasks and has others tried again.
func (w *world) operate(client int, rng *rand.Rand) {
	me := "op" + strconv.Itoa(client)
	q := w.latest()
	switch rng.IntN(4) {
	case 0:
		args := []string{"dpl-queue", "q", "--as", me, "--halt", "lunch"}
		if rng.IntN(3) == 0 {
			args = append(args, "--abort")
		}
		w.run(client, 0, "", args...)
		if rng.IntN(2) == 0 {
			if c := w.run(client, 0, "", "dpl-claim", "q", "--pid", strconv.Itoa(os.Getpid())); c.status != 3 {
				w.fault("the queue is halted: %v", c)
			}
		}
		w.run(client, 0, "", "dpl-queue", "q", "--as", me, "--resume")
	case 1:
		if len(q.Tasks) > 0 {
			w.run(client, 0, "", "dpl-enqueue", "q", "--cancel", q.Tasks[rng.IntN(len(q.Tasks))].ID)
		}
	case 2, 3:
		if id := again(q); id != "" {
			w.run(client, 0, "", "dpl-enqueue", "q", "--again", id)
		}
	}
	w.await(15)
}

// again returns a task that may be tried again: if there is one, while another one of its group is
// claimed.
func again(q queue.Queue) (id string) {
	claimed := make(map[string]bool)
	for _, t := range q.Tasks {
		claimed[t.Group] = claimed[t.Group] || t.Claim != nil
	}
	for _, t := range q.Tasks {
		if t.State != queue.Blocked && t.State != queue.Dead {
			continue
		}
		if t.Group != "" && claimed[t.Group] {
			return t.ID
		}
		if id == "" {
			id = t.ID
		}
	}
	return id
}

// work is dpl-work, until somebody kills it or the time is over.
func (w *world) work(client int, _ *rand.Rand) {
	cmd := w.command(client, "dpl-work", "q", "--follow", "--jobs", "2", "--participant",
		"w"+strconv.Itoa(client))
	if err := cmd.Start(); err != nil {
		w.fault("%v", err)
		return
	}
	w.mu.Lock()
	w.workers[cmd.Process.Pid] = cmd
	w.mu.Unlock()

	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
			w.await(1)
			if w.over.Load() {
				cmd.Process.Signal(syscall.SIGTERM) // in the background of a shell, INT may be ignored
				<-ended
				done = true
			}
		}
	}

	w.mu.Lock()
	delete(w.workers, cmd.Process.Pid)
	w.mu.Unlock()
	status := cmd.ProcessState.ExitCode()
	if cutOff := w.Cuts && status == 125; status != -1 && status != 128+int(syscall.SIGTERM) && !cutOff {
		w.fault("dpl-work --follow has exited %d", status)
	}
}

func (w *world) count(what string) {
	w.mu.Lock()
	w.kills[what]++
	w.mu.Unlock()
}
