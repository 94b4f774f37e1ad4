//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
	"golang.org/x/sys/unix"
)

// testWindowOfHandler makes a handler end just before its timeout kills it. The KILL reaches no
// process.
func testWindowOfHandler(t *testing.T, bin string) {
	strict.Program(t, "strace")
	o := inside(t, bin, ownNumbers...)
	if o == nil {
		return
	}

	worker := o.sleeper()
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--pid",
		strconv.Itoa(worker.Process.Pid), "--supervisor", "s")
	die(worker)
	o.exits("3", "dpl-heartbeat", "--supervisor", "s")

	for range 5 {
		os.Remove(o.dir + "/handler")

		// Package os tries handles on processes before it starts one, which takes two seconds here.
		cmd := o.delayed("dpl-cleanup", "--supervisor", "s", "--timeout", "3s", "--", "sh", "-c",
			"echo $$ >handler; exec sleep 600")
		s, hit := o.killInWindow(cmd)
		s.unharmed(o)
		if hit || t.Failed() {
			return
		}
	}

	t.Error("the signal was sent before the stranger was there, each time")
}

func (o *observed) killInWindow(cmd *exec.Cmd) (s *stranger, hit bool) {
	return o.inWindow(cmd, func() int { return o.pidIn("handler") }, unix.SYS_KILL,
		unix.SYS_PIDFD_SEND_SIGNAL)
}
