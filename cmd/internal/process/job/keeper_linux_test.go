package job

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// descendants returns the processes whose pids a script has written to the files named.
func descendants(t *testing.T, dir string, names ...string) (pids []int) {
	t.Helper()
	for _, name := range names {
		var pid int
		poll.Until(t, name+" is there", func() bool {
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

// When the runner is killed, the whole group ends, and so do processes that have left it: a
// grandchild that ignores SIGTERM, a stopped one, and a daemon with a session of its own.
func TestKeeperEndsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	// The kernel sends SIGHUP to an orphaned group with a stopped member.
	c := proctest.Start(t, "job", "1", "/bin/sh", "-c", `cd "$0"; trap "" HUP
		sh -c 'trap "" TERM; echo $$ >deaf; while :; do sleep 1000; done' &
		sh -c 'echo $$ >stopped; kill -STOP $$; sleep 1000' &
		setsid sh -c 'echo $$ >away; exec sleep 1000' &
		sh -c 'trap "echo >asked; exit" TERM; echo $$ >polite; while :; do sleep 0.01; done' &
		wait`, dir)

	leader := identify(t, started(t, c.First))
	left := descendants(t, dir, "deaf", "stopped", "polite")
	away := identify(t, descendants(t, dir, "away")[0])
	poll.Until(t, "it is stopped", func() bool { return proctest.InState(left[1], "T") })
	c.Die(t)
	mustEnd(t, leader)

	for _, pid := range left {
		if p, err := process.Identify(pid); err == nil {
			mustEnd(t, p)
		}
	}

	if _, err := os.Stat(filepath.Join(dir, "asked")); err != nil {
		t.Error("it was not asked to end before it was killed")
	}

	mustEnd(t, away)
}

// A command that kills its runner as soon as it has begun leaves nothing either.
func TestKeeperIsThereFirst(t *testing.T) {
	t.Parallel()
	for range 10 {
		dir := t.TempDir()
		const script = `cd "$0"; trap "" HUP; sleep 1000 & echo $! >left; kill -KILL $PPID; wait`
		runner := exec.Command("/proc/self/exe", "1", "/bin/sh", "-c", script, dir)
		runner.Env = append(os.Environ(), proctest.RoleVariable+"=job")
		if err := runner.Run(); runner.ProcessState == nil {
			t.Fatal(err)
		}

		pid := descendants(t, dir, "left")[0]
		poll.Until(t, "what it left ends", func() bool { return !proctest.InState(pid, "RSD") })
	}
}

// When the job is closed, its keeper ends without killing anything.
func TestKeeperDismissed(t *testing.T) {
	t.Parallel()
	j, dir := startJob(t, `sh -c 'echo $$ >left; exec sleep 1000' & wait`)
	left := identify(t, descendants(t, dir, "left")[0])
	t.Cleanup(func() { process.SignalProcess(left, unix.SIGKILL) })
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
	if process.Exited(left.PID, left.StartTicks) {
		t.Error("what is left was ended")
	}
}

// The keeper holds nothing that its runner's parent left open, such as a lock. The job does, as it
// would without a runner.
func TestKeeperHoldsNothing(t *testing.T) {
	t.Parallel()
	lock, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()

	runner := exec.Command("/proc/self/exe", "1", "/bin/sleep", "1000")
	runner.Env = append(os.Environ(), proctest.RoleVariable+"=job")
	runner.ExtraFiles = []*os.File{lock}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { runner.Process.Kill(); runner.Wait() }()

	holders := func() (names []string) {
		children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", runner.Process.Pid))
		for _, file := range children {
			content, _ := os.ReadFile(file)
			for pid := range strings.FieldsSeq(string(content)) {
				name, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				if link, err := os.Readlink("/proc/" + pid + "/fd/3"); err == nil &&
					link == lock.Name() {
					names = append(names, strings.SplitN(string(name), "\x00", 2)[0])
				} else {
					names = append(names, "not "+strings.SplitN(string(name), "\x00", 2)[0])
				}
			}
		}

		slices.Sort(names)
		return names
	}

	poll.Until(t, "the job has it and the keeper has not", func() bool {
		return slices.Equal(holders(), []string{"/bin/sleep", "not dpl-keeper"})
	})
}

// The keeper gets the note also of a runner that dies before it has read that the keeper is ready. The
// kernel then tells the keeper first that the connection was reset.
func TestKeeperGetsNote(t *testing.T) {
	t.Parallel()
	k := NewKeeper(process.NewStartID(), time.Second)
	if k.err != nil {
		t.Fatal(k.err)
	}
	path := filepath.Join(t.TempDir(), "note")
	k.Tell([]byte(path))
	poll.Until(t, "the keeper is ready", func() bool {
		set := []unix.PollFd{{Fd: int32(k.socket), Events: unix.POLLIN}}
		n, _ := unix.Poll(set, 0)
		return n == 1
	})

	unix.Close(k.socket)
	poll.Until(t, "the keeper ends", func() bool { return proctest.InState(k.pid, "Z") })
	unix.Wait4(k.pid, nil, 0, nil)
	if text, err := os.ReadFile(path); string(text) != "told" {
		t.Errorf("it does nothing with its note: %v", err)
	}
}

// slow is of one process that is amid execve whenever it is asked until the keeper has tried to
// kill it often enough.
type slow struct{ asked, kills int }

func (s *slow) signal(sig syscall.Signal) (any, doubt bool) {
	if s.asked++; s.asked <= 100 {
		return true, true
	}
	if sig == syscall.SIGKILL {
		s.kills++
	}
	return s.kills == 0, false
}

// A keeper does not end before it knows that no process is left.
func TestKeeperWaitsForExec(t *testing.T) {
	t.Parallel()
	var s slow
	if finish(s.signal, time.Millisecond); s.kills != 1 {
		t.Errorf("%d times asked, and killed %d times", s.asked, s.kills)
	}
}

// A keeper without a handle of the group ends what carries the id of its job, and nothing of
// another run of the same.
func TestKeeperByID(t *testing.T) {
	t.Parallel()
	k := NewKeeper(process.NewStartID(), 100*time.Millisecond)
	if k.err != nil {
		t.Fatal(k.err)
	}

	k.await()
	begin := func(id string, argv ...string) (*exec.Cmd, func() bool) {
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = append(os.Environ(), process.StartVariable+"="+id)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		return c, func() bool { return proctest.InState(c.Process.Pid, "Z") }
	}

	_, oursEnded := begin(k.id, "/bin/sleep", "1000")
	deaf, deafEnded := begin("0123456789abcdef,"+k.id, "/bin/sh", "-c",
		`trap "" TERM; while :; do sleep 1000; done`)
	_, nextEnded := begin(process.NewStartID(), "/bin/sleep", "1000")
	away, awayEnded := begin(k.id, "setsid", "sleep", "1000")
	poll.Until(t, "it has a session of its own", func() bool {
		session, err := unix.Getsid(away.Process.Pid)
		return err == nil && session == away.Process.Pid
	})

	poll.Until(t, "it ignores SIGTERM", func() bool {
		ignored, err := strconv.ParseUint(proctest.Value(t,
			fmt.Sprintf("/proc/%d/status", deaf.Process.Pid), "SigIgn:"), 16, 64)
		return err == nil && ignored&(1<<(unix.SIGTERM-1)) != 0
	})

	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the keeper: %s; ended: %t, %t", proctest.StatLine(k.pid), oursEnded(),
				deafEnded())
		}
	})

	// As when the runner dies, except that no child of another test can be in the middle of a fork
	// and hold a closed socket open.
	unix.Shutdown(k.socket, unix.SHUT_RDWR)
	poll.Until(t, "those of the job end", func() bool {
		return oursEnded() && deafEnded() &&
			awayEnded()
	})
	unix.Close(k.socket)
	poll.Until(t, "the keeper ends, too", func() bool { return proctest.InState(k.pid, "Z") })
	unix.Wait4(k.pid, nil, 0, nil)
	if nextEnded() {
		t.Error("one of another run was ended")
	}
}

// A parked keeper has no signal that ends it but SIGKILL, no file but its socket, and a session and
// a name of its own.
func TestKeeperParked(t *testing.T) {
	t.Parallel()
	k := NewKeeper(process.NewStartID(), time.Second)
	if k.err != nil {
		t.Fatal(k.err)
	}
	defer k.Dismiss()

	k.await()
	proc := fmt.Sprintf("/proc/%d/", k.pid)
	if name, _ := os.ReadFile(proc + "comm"); string(name) != "dpl-keeper\n" {
		t.Errorf("its name is %q", name)
	}
	if line, _ := os.ReadFile(proc + "cmdline"); strings.TrimRight(string(line),
		"\x00") != "dpl-keeper" {
		t.Errorf("its arguments are %q", line)
	}

	environ, _ := os.ReadFile(proc + "environ")
	if got, want := strings.Trim(string(environ),
		"\x00"), process.KeeperVariable+"="+k.id; got != want {
		t.Errorf("its environment is %q, want %q", got, want)
	}
	if files, _ := filepath.Glob(proc + "fd/*"); len(files) != 4 { // and its program
		t.Errorf("it has %q open", files)
	}

	for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGUSR1} {
		unix.Kill(k.pid, sig)
	}

	unix.Kill(k.pid, unix.SIGSTOP)
	unix.Kill(k.pid, unix.SIGCONT)
	poll.Until(t, "it waits on", func() bool { return proctest.InState(k.pid, "S") })
}
