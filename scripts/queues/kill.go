//go:build linux

package queues

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// kill kills one process of an attempt of dpl-work, or a worker. Of each attempt it kills one
// process only: if both its dpl-work and its keeper were killed, nobody would stop its command.
func (w *world) kill(_ int, rng *rand.Rand) {
	defer w.await(4)
	w.mu.Lock()
	defer w.mu.Unlock()

	if rng.IntN(8) == 0 {
		for _, cmd := range w.workers {
			cmd.Process.Kill()
			w.kills["worker"]++
			return
		}
	}

	var running []*queue.Claim
	for _, t := range w.q.Tasks {
		if c := t.Claim; c != nil && w.q.IsAttempt(t) && !w.hit[c.Epoch] {
			running = append(running, c)
		}
	}
	if len(running) == 0 {
		return
	}

	c := running[rng.IntN(len(running))]
	what, pid, is := "attempt", c.PID, sameStart(c.Process)
	switch rng.IntN(4) {
	case 0: // its command goes on until the keeper can end it
		pause(c.Keeper, 60*time.Millisecond)
	case 1:
		what, pid, is = "keeper", c.Keeper.PID, sameStart(c.Keeper)
	case 2:
		what, pid, is = "command", w.commandOf(c.Epoch), w.hasEnvironment
	}
	if proc.Signal(pid, os.Kill, is) {
		w.hit[c.Epoch] = true
		w.kills[what]++
	}
}

// pause stops a process for a while.
func pause(p observe.Process, d time.Duration) {
	if proc.Signal(p.PID, syscall.SIGSTOP, sameStart(p)) {
		time.AfterFunc(d, func() { proc.Signal(p.PID, syscall.SIGCONT, sameStart(p)) })
	}
}

// commandOf returns the process of the command of an attempt, or 0.
func (w *world) commandOf(epoch int64) (pid int) {
	for _, l := range w.log() {
		if l.word == "begin" && l.epoch == epoch {
			pid = l.pid
		}
	}
	return pid
}

// sameStart returns a function that reports whether a process was started when p was.
func sameStart(p observe.Process) func(pid int) bool {
	return func(pid int) bool {
		ticks, _ := proc.StartTicks(pid)
		return ticks == p.StartTicks
	}
}

// hasEnvironment reports whether a process has the environment of this world.
func (w *world) hasEnvironment(pid int) bool { return proc.Has(pid, "D="+w.Base) }

// A line is what a command of a task has written.
type line struct {
	word  string // begin, end or overlap
	task  string
	epoch int64
	pid   int
}

// log returns what the commands of tasks have written, in order.
func (w *world) log() (all []line) {
	text, err := os.ReadFile(filepath.Join(w.Base, "log"))
	if err != nil {
		return nil
	}
	for _, text := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var l line
		fmt.Sscan(text, &l.word, &l.task, &l.epoch, &l.pid)
		all = append(all, l)
	}
	return all
}

// processes returns the processes of the command of an attempt.
func (w *world) processes(epoch int64) []int {
	return proc.With("D="+w.Base, "DPL_EPOCH="+strconv.FormatInt(epoch, 10))
}
