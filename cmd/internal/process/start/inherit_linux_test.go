package start

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"

	"golang.org/x/sys/unix"
)

// startPassThrough is startPass by a shell script that ends with exec "$@".
func startPassThrough(t *testing.T, script string, s Command) *proctest.Child {
	t.Helper()
	arg, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return proctest.StartCommand(t, exec.Command("bash", "-c", script, "bash", self, string(arg)),
		"pass")
}

// A lock that the pass was started under is free when the pass is gone.
func TestServiceInheritsNoDescriptor(t *testing.T) {
	t.Parallel()
	s := command(t, "sleep", "1000")
	lock := filepath.Join(s.Dir, "lock")
	c := startPassThrough(t, "exec 7<. 9>'"+lock+"'; flock 9; exec \"$@\"", s)
	p := stages(t, c)[0]
	release(t, c)
	mustHaveDescriptors(t, p.PID, s)
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		t.Fatalf("the lock is free: %v", err)
	}

	c.Die(t)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("the lock: %v", err)
	}
}

// Not parallel: it marks descriptors of this process, which has none that a child should have.
func TestCloseListedOnExec(t *testing.T) {
	fd, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)

	if err := closeListedOnExec("/proc/self/fd"); err != nil {
		t.Fatal(err)
	}

	for fd, want := range map[int]int{0: 0, 1: 0, 2: 0, fd: unix.FD_CLOEXEC} {
		if got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); got != want || err != nil {
			t.Errorf("descriptor %d has flags %d, %v, want %d", fd, got, err, want)
		}
	}

	if err := closeListedOnExec("/no such"); err == nil {
		t.Error("no error where there is no list")
	}
}

// A service begins with no signal blocked or ignored, and with the limits that its pass began with.
//
// Not parallel: a job that is closed has this process ignore SIGTSTP for a moment, and what it
// starts then.
func TestServiceInheritsNoSignals(t *testing.T) {
	s := command(t, "cat", "/proc/self/status", "/proc/self/limits")
	const signals = "HUP INT QUIT PIPE TERM USR1 CHLD"
	script := "ulimit -Sn 123; trap '' " + signals + "; exec env --block-signal=USR2,HUP \"$@\""
	if out, err := exec.Command("env", "--block-signal=HUP", "true").CombinedOutput(); err != nil {
		t.Logf("no signal is blocked: %s", out)
		script = strings.Replace(script, "env --block-signal=USR2,HUP", "", 1)
	}

	c := startPassThrough(t, script, s)
	ignored := proctest.Value(t, "/proc/"+strconv.Itoa(c.Process.Pid)+"/status", "SigIgn:")
	release(t, c)
	stages(t, c)
	poll.Until(t, "limits in the log", func() bool {
		content, _ := os.ReadFile(s.Log)
		return strings.Contains(string(content), "Max realtime timeout")
	})

	const none = "0000000000000000"
	if ignored == none {
		t.Error("the pass ignores nothing")
	}

	for _, name := range []string{"SigBlk:", "SigIgn:", "SigPnd:", "ShdPnd:"} {
		if set, err := strconv.ParseUint(proctest.Value(t, s.Log, name), 16, 64); err != nil ||
			set&^proctest.OfThreads != 0 {
			t.Errorf("%s %x, %v", name, set, err)
		}
	}

	if got := proctest.Value(t, s.Log, "Max open files"); got != "123" {
		t.Errorf("at most %s open files, want 123", got)
	}
}
