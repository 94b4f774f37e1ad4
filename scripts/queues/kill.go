//go:build linux

package queues

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// kill kills one process of an attempt of dpl-run, or a worker. Of each attempt it kills one
// process only: if both its dpl-run and its keeper were killed, nobody would stop its command.
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
	if killIf(pid, is) {
		w.hit[c.Epoch] = true
		w.kills[what]++
	}
}

// pause stops a process for a while.
func pause(p observe.Process, d time.Duration) {
	process, err := os.FindProcess(p.PID)
	if err == nil && p.PID > 1 && sameStart(p)(p.PID) {
		process.Signal(syscall.SIGSTOP)
		time.AfterFunc(d, func() { process.Signal(syscall.SIGCONT) })
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

// killIf kills a process if it is the one that is meant: another one may have got the number.
func killIf(pid int, is func(pid int) bool) bool {
	if pid <= 1 {
		return false
	}
	p, err := os.FindProcess(pid) // a handle: from now on the number does not matter
	if err != nil {
		return false
	}
	defer p.Release()
	return is(pid) && p.Kill() == nil
}

// sameStart returns a function that reports whether a process was started when p was.
func sameStart(p observe.Process) func(pid int) bool {
	return func(pid int) bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		return err == nil && len(fields) > 19 && fields[19] == strconv.FormatInt(p.StartTicks, 10)
	}
}

// hasEnvironment reports whether a process has the environment of this world.
func (w *world) hasEnvironment(pid int) bool { return hasVariable(pid, "D="+w.Base) }

func hasVariable(pid int, want string) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(variable []byte) bool {
		return string(variable) == want
	})
}

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
func (w *world) processes(epoch int64) (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && w.hasEnvironment(pid) && hasVariable(pid, "DPL_EPOCH="+strconv.FormatInt(epoch, 10)) {
			all = append(all, pid)
		}
	}
	return all
}
