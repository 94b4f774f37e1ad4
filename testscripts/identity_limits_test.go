//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// testSameTick gives the pid of a dead process to a stranger within the tick (10 ms) in which the
// dead one started. For this the file is changed to describe such a stranger.
func testSameTick(t *testing.T, bin string) {
	if inside(t, bin, ownNumbers...) == nil {
		return
	}

	for name, test := range map[string]func(o *observed, s *stranger){
		"by inode": sameTickByInode, "by start time": sameTickByStart,
	} {
		t.Run(name, func(t *testing.T) {
			o := ledgerOf(t, bin)
			worker := o.sleeper()
			start, _ := proc.StartTicks(worker.Process.Pid)
			o.run("dpl-push", "--participant", "worker", "--call", "work", "--heartbeat", "--pid",
				strconv.Itoa(worker.Process.Pid), "--now", "2026-01-01T00:00:00Z")
			die(worker)
			s := o.recycle(worker.Process.Pid, start)
			ticks, _ := proc.StartTicks(s.pid)
			o.rewrite("operations/build.json", `"startTicks": [0-9]+`,
				fmt.Sprintf(`"startTicks": %d`, ticks))
			test(o, s)
		})
	}
}

// sameTickByInode finds at once that the dead process had another inode.
func sameTickByInode(o *observed, s *stranger) {
	if o.member("operations/build.json", "stack.0.process.pidfdInode") == "absent" {
		o.t.Skip("before Linux 6.9, pidfds have no inodes of their own")
	}
	o.run("dpl-cleanup", "--now", "2026-01-01T00:00:00Z")
	o.want("operations/build.json", "state=cleanup", "stack.0.state=crashed",
		"stack.0.evidence=exited")
	s.unharmed(o)
}

// sameTickByStart shows a known limit: without an inode the stranger is mistaken for the dead
// process. So the dead participant is found only if it promised heartbeats, which no one sends. The
// stranger would also get a signal, which is why only a handle protects.
func sameTickByStart(o *observed, s *stranger) {
	o.forgetInode("operations/build.json")
	o.run("dpl-cleanup", "--now", "2026-01-01T00:00:10Z")
	o.want("operations/build.json", "state=running", "stack.0.state=active")
	o.run("dpl-cleanup", "--now", "2026-01-01T00:00:10.001Z")
	o.want("operations/build.json", "state=cleanup", "stack.0.state=crashed",
		"stack.0.evidence=stale")
	s.unharmed(o)
}

// rewrite replaces what matches a pattern in a file of the ledger.
func (o *observed) rewrite(file, pattern, with string) {
	o.t.Helper()
	path := filepath.Join(o.dir, "ledger", file)
	data, err := os.ReadFile(path)
	if err != nil {
		o.t.Fatal(err)
	}
	write(o.t, path, regexp.MustCompile(pattern).ReplaceAllString(string(data), with), 0o600)
}

// forgetInode lets a file of the ledger look as if it had been written before Linux 6.9.
func (o *observed) forgetInode(file string) {
	o.t.Helper()
	o.rewrite(file, `,\s*"pidfdInode": [0-9]+`, "")
}

// testZombies makes a participant, a supervisor, a service and a claimer end without their parents
// waiting for them, and then sends heartbeats in their names. They still count as gone (spec §4.2
// exited).
func testZombies(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	var numbers []int
	var pids []string

	for range 4 {
		numbers = append(numbers, o.zombieToBe())
		pids = append(pids, strconv.Itoa(numbers[len(numbers)-1]))
	}

	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "600")
	o.run("dpl-push", "--participant", "worker", "--call", "work", "--pid", pids[0])
	o.run("dpl-heartbeat", "--supervisor", "s", "--pid", pids[1])
	o.run("dpl-push", "--participant", "cli", "--call", "other", "--supervisor", "s",
		"--no-fail-on-crash")
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--no-pass", "--pid", pids[2])
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	o.run("dpl-enqueue", "q", "--id", "task", "--", "true")
	o.run("dpl-claim", "q", "--pid", pids[3])
	o.run("dpl-cleanup")
	o.exits("1", "dpl-claim", "q", "--participant", "other", "--deadline", "1h")
	o.want("operations/build.json", "state=running", "stack.1.state=active",
		"supervisorHeartbeats.s.status=alive")
	o.want("g.supervisors.json", "supervisors.s.state=running")

	for i, pid := range pids {
		if err := syscall.Kill(numbers[i], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		poll.Until(o.t, "a zombie", func() bool {
			data, _ := os.ReadFile("/proc/" + pid + "/status")
			return strings.Contains(string(data), "\nState:\tZ ")
		})
	}

	o.exits("5", "dpl-heartbeat", "--call", "work")
	o.want("operations/build.json", "stack.1.state=crashed", "stack.1.evidence=exited",
		"supervisorHeartbeats.s.status=dead", "stack.2.state=crashed", "stack.2.evidence=supervisorDead")
	o.exits("69", "dpl-heartbeat", "--call", "main", "--pid", pids[0])
	o.exits("5", "dpl-heartbeat", "--group", "g", "--supervisor", "s")
	o.run("dpl-orchestrate", "--group", "g")
	o.want("g.supervisors.json", "supervisors.s.state=dead", "supervisors.s.lastExit.reason=exited")
	o.run("dpl-queue", "q", "--permits", "all")
	o.want("queues/q.json", "tasks.0.lastEnd=crashed", "tasks.0.lastReason=exited")
}

// zombieToBe starts a process whose parent will not wait for it.
func (o *observed) zombieToBe() int {
	file := filepath.Join(o.t.TempDir(), "pid")
	o.launch(exec.Command("sh", "-c",
		`sleep 600 & echo $! >"$0".new; mv "$0".new "$0"; exec sleep 600`, file))
	var pid int
	poll.Until(o.t, "the process that is to be a zombie", func() bool {
		data, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid != 0
	})

	return pid
}
