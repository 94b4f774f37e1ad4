//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// pidIn returns the pid that a script writes to a file of o, when it is there.
func (o *observed) pidIn(name string) (pid int) {
	o.t.Helper()
	o.until(name, func() bool {
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
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--pid", strconv.Itoa(worker.Process.Pid), "--supervisor", "s")
	die(worker)
	o.exits("3", "dpl-heartbeat", "--supervisor", "s")
	claimant := o.command("dpl-cleanup", "--supervisor", "s", "--", "sh", "-c", "echo $$ >handler; exec sleep 600")
	o.launch(claimant)
	handler := o.pidIn("handler")
	o.want("operations/build.json", "stack.1.handlingBy.pid="+strconv.Itoa(claimant.Process.Pid))
	start, _ := startTicks(claimant.Process.Pid)
	ofHandler, _ := startTicks(handler)
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

// Dpl-run is killed. Its keeper ends the command, and nobody who gets the number of either.
func recycledRun(o *observed) {
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	run := o.command("dpl-run", "--call", "work", "--kill-after", "0.3s", "--", "sh", "-c", "echo $$ >command; exec sleep 600")
	o.launch(run)
	command := o.pidIn("command")
	start, _ := startTicks(run.Process.Pid)
	ofCommand, _ := startTicks(command)
	die(run)
	first := o.recycle(run.Process.Pid, start)
	second := o.recycle(command, ofCommand)
	o.until("the keeper has ended", func() bool { return len(processesWith("DPL_LEDGER="+o.dir+"/ledger")) == 4 })
	o.exits("3", "dpl-heartbeat", "--participant", "cli")
	o.want("operations/build.json", "stack.1.state=crashed", "stack.1.evidence=exited")
	first.unharmed(o)
	second.unharmed(o)
}

// Who beats for a process would tell it that the operation is aborted. It has ended meanwhile.
func recycledWhilePID(o *observed) {
	worker := o.sleeper()
	pid := strconv.Itoa(worker.Process.Pid)
	start, _ := startTicks(worker.Process.Pid)
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--staleness", "600")
	beater := o.command("dpl-heartbeat", "--call", "work", "--every", "20ms", "--while-pid", pid, "--signal", "TERM")
	o.launch(beater)
	beats := func() string { return o.member("operations/build.json", "revision") }
	first := beats()
	o.until("a heartbeat", func() bool { return beats() != first })
	o.until("the beater is stopped and has no lock", func() bool {
		beater.Process.Signal(syscall.SIGSTOP)
		o.until("it is stopped", func() bool { return stopped(beater.Process.Pid) })
		lock := flock.New(o.dir+"/ledger/operations/build.json.lock", flock.SetFlag(os.O_RDWR))
		defer lock.Close()
		free, _ := lock.TryLock()
		if !free {
			beater.Process.Signal(syscall.SIGCONT)
		}
		return free
	})
	die(worker)
	s := o.recycle(worker.Process.Pid, start)
	o.run("dpl-abort")
	beater.Process.Signal(syscall.SIGCONT)
	if err := beater.Wait(); err != nil {
		o.t.Errorf("the beater: %v", err)
	}
	s.unharmed(o)
}
