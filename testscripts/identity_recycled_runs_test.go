//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// pidIn returns the pid that a script writes to a file of o, when it is there.
func (o *observed) pidIn(name string) (pid int) {
	o.t.Helper()
	poll.Until(o.t, name, func() bool {
		data, _ := os.ReadFile(filepath.Join(o.dir, name))
		pid, _ = strconv.Atoi(strings.TrimSuffix(string(data), "\n"))
		return strings.HasSuffix(string(data), "\n")
	})
	return pid
}

// Whoever runs a handler is killed. Its claim ends with it, though its number is taken (spec §5.7).
func recycledHandler(o *observed) {
	worker := o.sleeper()
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--pid",
		strconv.Itoa(worker.Process.Pid), "--supervisor", "s")
	die(worker)
	o.exits("3", "dpl-heartbeat", "--supervisor", "s")
	claimant := o.command("dpl-cleanup", "--supervisor", "s", "--", "sh", "-c",
		"echo $$ >handler; exec sleep 600")
	o.launch(claimant)
	handler := o.pidIn("handler")
	o.want("operations/build.json", "stack.1.handlingBy.pid="+strconv.Itoa(claimant.Process.Pid))
	start, _ := proc.StartTicks(claimant.Process.Pid)
	ofHandler, _ := proc.StartTicks(handler)
	die(claimant)
	first := o.recycle(claimant.Process.Pid, start)
	second := o.recycle(handler, ofHandler) // which the kernel has killed
	o.run("dpl-cleanup", "--supervisor", "s", "--", "sh", "-c", "echo $DPL_CALL >handled")
	o.want("operations/build.json", "stack.1.state=cleanedUp")
	if data, err := os.ReadFile(filepath.Join(o.dir, "handled")); string(data) != "work\n" {
		o.t.Errorf("handled: %q, %v", data, err)
	}

	first.unharmed(o)
	second.unharmed(o)
}

// Dpl-run is killed. Its keeper ends the command, and no process that gets the pid of either.
func recycledRun(o *observed) {
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	run := o.command("dpl-run", "--call", "work", "--kill-after", "0.3s", "--", "sh", "-c",
		"echo $$ >command; exec sleep 600")
	o.launch(run)
	command := o.pidIn("command")
	start, _ := proc.StartTicks(run.Process.Pid)
	ofCommand, _ := proc.StartTicks(command)
	die(run)
	first := o.recycle(run.Process.Pid, start)
	second := o.recycle(command, ofCommand)
	poll.Until(o.t, "the keeper has ended",
		func() bool { return len(proc.With("DPL_LEDGER="+o.dir+"/ledger")) == 4 })
	o.exits("3", "dpl-heartbeat", "--participant", "cli")
	o.want("operations/build.json", "stack.1.evidence=exited")
	first.unharmed(o)
	second.unharmed(o)
}

// A heartbeat sent for a process would signal it because the operation is aborted. The process ends
// while the heartbeat waits for the lock.
func recycledWhilePID(o *observed) {
	worker := o.sleeper()
	start, _ := proc.StartTicks(worker.Process.Pid)
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--staleness", "600")
	lock := flock.New(o.dir+"/ledger/operations/build.json.lock", flock.SetFlag(os.O_RDWR))
	if err := lock.Lock(); err != nil {
		o.t.Fatal(err)
	}

	beater := o.command("dpl-heartbeat", "--call", "work", "--lock-timeout", "1m",
		"--every", "1h", "--while-pid", strconv.Itoa(worker.Process.Pid), "--signal", "TERM")
	said := &strings.Builder{}
	beater.Stderr = said
	o.launch(beater)
	poll.Until(o.t, "the heartbeat waits for the lock",
		func() bool { return inCall(beater.Process.Pid, unix.SYS_FLOCK) != 0 })
	die(worker)
	s := o.recycle(worker.Process.Pid, start)
	o.rewrite("operations/build.json", `"state": "running"`, `"state": "aborted"`)
	lock.Close()
	if err := beater.Wait(); err != nil || said.Len() == 0 {
		o.t.Errorf("the heartbeat: %v: %q, want it to say that the operation is aborted", err, said)
	}

	s.unharmed(o)
}
