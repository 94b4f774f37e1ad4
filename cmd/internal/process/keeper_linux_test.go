package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// descendants returns the processes whose pids a script has written to the files named.
func descendants(t *testing.T, dir string, names ...string) (pids []int) {
	t.Helper()
	for _, name := range names {
		var pid int
		eventually(t, name+" is there", func() bool {
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return false
			}
			n, _ := fmt.Sscanf(string(content), "%d\n", &pid)
			return n == 1
		})
		pids = append(pids, pid)
	}
	return pids
}

// When the runner is killed, all of the group ends: a grandchild that ignores SIGTERM and a stopped one, too. What has left
// the group does not.
func TestKeeperEndsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The kernel sends SIGHUP to an orphaned group of which one is stopped.
	c := start(t, "job", "1", "/bin/sh", "-c", `cd "$0"; trap "" HUP
		sh -c 'trap "" TERM; echo $$ >deaf; while :; do sleep 1000; done' &
		sh -c 'echo $$ >stopped; kill -STOP $$; sleep 1000' &
		setsid sh -c 'echo $$ >away; exec sleep 1000' &
		sh -c 'trap "echo >asked; exit" TERM; echo $$ >polite; while :; do sleep 0.01; done' &
		wait`, dir)
	leader := identify(t, started(t, c.first))
	left := descendants(t, dir, "deaf", "stopped", "polite")
	away := identify(t, descendants(t, dir, "away")[0])
	t.Cleanup(func() { SignalProcess(away, unix.SIGKILL) })
	eventually(t, "it is stopped", func() bool { return inState(left[1], "T") })
	c.die(t)
	mustEnd(t, leader)
	for _, pid := range left {
		if p, err := Identify(pid); err == nil {
			mustEnd(t, p)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "asked")); err != nil {
		t.Error("it was not asked to end before it was killed")
	}
	if Exited(away.PID, away.StartTicks) {
		t.Error("what had left the group was ended, too")
	}
}

// A command that kills its runner as soon as it has begun leaves nothing either.
func TestKeeperIsThereFirst(t *testing.T) {
	t.Parallel()
	for range 10 {
		dir := t.TempDir()
		const script = `cd "$0"; trap "" HUP; sleep 1000 & echo $! >left; kill -KILL $PPID; wait`
		runner := exec.Command("/proc/self/exe", "1", "/bin/sh", "-c", script, dir)
		runner.Env = append(os.Environ(), roleVariable+"=job")
		if err := runner.Run(); runner.ProcessState == nil {
			t.Fatal(err)
		}
		pid := descendants(t, dir, "left")[0]
		eventually(t, "what it left ends", func() bool { return !inState(pid, "RSD") })
	}
}

// When the job is closed, its keeper ends nobody, and goes.
func TestKeeperDismissed(t *testing.T) {
	t.Parallel()
	j, dir := startJob(t, `sh -c 'echo $$ >left; exec sleep 1000' & wait`)
	left := identify(t, descendants(t, dir, "left")[0])
	t.Cleanup(func() { SignalProcess(left, unix.SIGKILL) })
	if j.keeper == nil {
		t.Skip(j.Unkept())
	}
	keeper := identify(t, j.keeper.pid)
	if session, err := unix.Getsid(keeper.PID); err != nil || session != keeper.PID {
		t.Errorf("the keeper is in session %d (%v), not in its own", session, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, keeper)
	for range 20 {
		if Exited(left.PID, left.StartTicks) {
			t.Fatal("what is left was ended")
		}
		time.Sleep(time.Millisecond)
	}
}

// The keeper holds nothing that its runner's parent left open, such as a lock.
func TestKeeperHoldsNothing(t *testing.T) {
	t.Parallel()
	j, _ := startJob(t, "sleep 1000")
	if j.keeper == nil {
		t.Skip(j.Unkept())
	}
	eventually(t, "the keeper has 0, 1, 2, its handle and what its runtime polls with", func() bool {
		for _, fd := range descriptors(t, j.keeper.pid) {
			link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", j.keeper.pid, fd))
			if err == nil && fd > "2" && link != "anon_inode:[pidfd]" && link != "anon_inode:[eventpoll]" && link != "anon_inode:[eventfd]" {
				return false
			}
		}
		return true
	})
}
