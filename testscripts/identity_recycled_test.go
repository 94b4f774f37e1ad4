//go:build linux

package testscripts

import (
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// testRecycled gives the pids of dead processes to strangers. The dead are found at once, and no
// stranger gets a signal (spec §3.4, §4.2 exited, §11.4).
func testRecycled(t *testing.T, bin string) {
	o := inside(t, bin, ownNumbers...)
	if o == nil {
		return
	}

	for name, test := range map[string]func(o *observed){
		"participant":       recycledParticipant,
		"caller":            recycledCaller,
		"started":           recycledStarted,
		"told to end":       recycledToldToEnd,
		"shut down":         recycledShutDown,
		"registered itself": recycledSelf,
		"handler":           recycledHandler,
		"dpl-run":           recycledRun,
		"while-pid":         recycledWhilePID,
		"claimer":           recycledClaimer,
		"attempt":           recycledAttempt,
		"keeper":            recycledKeeper,
	} {
		t.Run(name, func(t *testing.T) { test(ledgerOf(t, bin)) })
	}
}

// recycled kills a process, waits until its pid is free, and gives it to a stranger.
func (o *observed) recycled(pid int) *stranger {
	o.t.Helper()
	start, alive := proc.StartTicks(pid)
	if !alive {
		o.t.Fatalf("process %d is dead already", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		o.t.Fatal(err)
	}
	return o.recycle(pid, start)
}

func recycledParticipant(o *observed) {
	worker := o.sleeper()
	start, _ := proc.StartTicks(worker.Process.Pid)
	pid := strconv.Itoa(worker.Process.Pid)
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--pid", pid, "--tmp")
	o.run("dpl-cleanup")
	o.want("operations/build.json", "state=running", "stack.1.state=active")
	die(worker)
	s := o.recycle(worker.Process.Pid, start)
	o.exits("76", "dpl-heartbeat", "--call", "work", "--pid", pid)
	o.want("operations/build.json", "state=running")
	o.exits("5", "dpl-heartbeat", "--call", "work")
	o.want("operations/build.json", "state=cleanup", "stack.0.state=active",
		"stack.1.state=crashed", "stack.1.evidence=exited")
	o.run("dpl-cleanup")
	o.want("operations/build.json", "stack.1.state=cleanedUp")
	o.run("dpl-pop", "--call", "main")
	o.want("operations/build.json", "state=failed", "stack.len=0")
	s.unharmed(o)
}

// The stranger has the number of the root caller, and becomes a participant itself.
func recycledCaller(o *observed) {
	caller := o.sleeper()
	start, _ := proc.StartTicks(caller.Process.Pid)
	pid := strconv.Itoa(caller.Process.Pid)
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600", "--pid", pid,
		"--no-fail-on-crash")
	o.run("dpl-push", "--participant", "worker", "--call", "work")
	die(caller)
	s := o.recycle(caller.Process.Pid, start)
	o.run("dpl-push", "--participant", "cli", "--call", "again", "--pid", pid)
	o.want("operations/build.json", "state=running", "stack.0.state=crashed",
		"stack.0.evidence=exited", "stack.2.state=active")
	o.run("dpl-cleanup")
	o.want("operations/build.json", "state=running", "stack.len=2", "stack.0.callId=work",
		"stack.1.state=active")
	s.unharmed(o)
}

// registered returns the pid that is recorded for supervisor s.
func (o *observed) registered() int {
	o.t.Helper()
	pid, err := strconv.Atoi(o.member("g.supervisors.json", "supervisors.s.pid"))
	if err != nil {
		o.t.Fatal(err)
	}
	return pid
}

// A supervisor that a pass has started gets signals as the leader of a group.
func recycledStarted(o *observed) {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--request", "--no-pass",
		"--backoff", "0", "--kill-timeout", "0", "--", "sleep", "600")
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	pid := o.registered()
	s := o.recycled(pid)
	o.run("dpl-orchestrate", "--group", "g")
	o.run("dpl-orchestrate", "--group", "g")
	o.want("g.supervisors.json", "supervisors.s.state=running", "supervisors.s.restartAttempts=1",
		"supervisors.s.lastExit.reason=exited")
	if o.registered() == pid {
		o.t.Errorf("process %d is registered still", pid)
	}

	s.unharmed(o)
}

// The supervisor has got TERM. The KILL that is due is not for who has its number.
func recycledToldToEnd(o *observed) {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--request", "--no-pass",
		"--kill-timeout", "10ms", "--", "sh", "-c", "trap '' TERM; while :; do sleep 600; done")
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	pid := o.registered()
	poll.Until(o.t, "it ignores TERM", func() bool { return ignoresTERM(pid) })
	o.run("dpl-shutdown", "--group", "g", "--supervisor", "s")
	poll.Until(o.t, "it was told to end", func() bool {
		o.run("dpl-orchestrate", "--group", "g")
		return o.member("g.supervisors.json", "supervisors.s.termSentAt") != "absent"
	})

	if _, alive := proc.StartTicks(pid); !alive {
		o.t.Fatal("it was killed with the first pass")
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		o.t.Fatal(err)
	}

	s := o.recycle(pid, 0)
	o.run("dpl-orchestrate", "--group", "g")
	o.run("dpl-orchestrate", "--group", "g")
	o.want("g.supervisors.json", "supervisors.s.state=stopped")
	s.unharmed(o)
}

// ignoresTERM reports whether the process ignores SIGTERM, the 15th signal.
func ignoresTERM(pid int) bool {
	return exec.Command("grep", "-q", "^SigIgn:.*[4567cdef]...$",
		"/proc/"+strconv.Itoa(pid)+"/status").Run() == nil
}

func recycledShutDown(o *observed) {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--request", "--no-pass", "--",
		"sleep", "600")
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	s := o.recycled(o.registered())
	o.run("dpl-shutdown", "--group", "g", "--supervisor", "s", "--wait")
	o.want("g.supervisors.json", "supervisors.s.state=stopped")
	s.unharmed(o)
}

// A supervisor that has registered itself gets signals as a process.
func recycledSelf(o *observed) {
	self := o.sleeper()
	start, _ := proc.StartTicks(self.Process.Pid)
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--no-pass", "--kill-timeout", "0",
		"--pid", strconv.Itoa(self.Process.Pid))
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	o.want("g.supervisors.json", "supervisors.s.state=running")
	die(self)
	s := o.recycle(self.Process.Pid, start)
	o.run("dpl-shutdown", "--group", "g", "--supervisor", "s")
	o.run("dpl-orchestrate", "--group", "g")
	o.run("dpl-orchestrate", "--group", "g")
	o.want("g.supervisors.json", "supervisors.s.state=stopped")
	s.unharmed(o)
}
