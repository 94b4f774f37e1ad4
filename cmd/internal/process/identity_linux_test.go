package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"

	"golang.org/x/sys/unix"
)

func mustBeGone(t *testing.T, p observe.Process) {
	t.Helper()
	pid, startTicks := p.PID, p.StartTicks
	if got, err := Identify(pid); !errors.Is(err, ErrNoProcess) || got != (observe.Process{}) {
		t.Errorf("Identify(%d) = %+v, %v, want ErrNoProcess", pid, got, err)
	}
	if !Exited(pid, startTicks) {
		t.Errorf("Exited(%d, %d) = false", pid, startTicks)
	}
	if !Exited(pid, 0) {
		t.Errorf("Exited(%d, 0) = false", pid)
	}
	if got := Look(p); got != observe.Gone {
		t.Errorf("Look(%+v) = %d, want gone", p, got)
	}
	if w, err := Watch(pid); !errors.Is(err, ErrNoProcess) || w != nil {
		t.Errorf("Watch(%d) = %v, %v, want ErrNoProcess", pid, w, err)
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	pid := proctest.Start(t, "echo").MustBeReady(t).Process.Pid
	var ticks int64
	line := proctest.StatLine(pid)
	if _, err := fmt.Sscan(strings.Fields(line)[21], &ticks); err != nil {
		t.Fatal(err)
	}

	host := Here()
	want := observe.Process{PID: pid, HostID: host.ID, BootID: host.BootID,
		PIDNamespace: host.PIDNamespace, StartTicks: ticks, PidfdInode: inodeOf(t, pid)}
	if got := identify(t, pid); got != want {
		t.Errorf("Identify = %+v, want %+v", got, want)
	}

	for start, want := range map[int64]bool{ticks: false, ticks + 1: true, ticks - 1: true,
		0: false, -1: false} {
		if got := Exited(pid, start); got != want {
			t.Errorf("Exited(%d, %d) = %t; it started at %d", pid, start, got, ticks)
		}
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, c.Process.Pid)
	c.Die(t)
	mustBeGone(t, p)
}

func TestZombie(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, c.Process.Pid)
	c.BecomeZombie(t)
	if err := unix.Kill(p.PID, 0); err != nil {
		t.Fatalf("the zombie is not there: %v", err)
	}
	mustBeGone(t, p)
}

func TestOddName(t *testing.T) {
	t.Parallel()
	plain := proctest.Start(t, "echo").MustBeReady(t)
	odd := proctest.Start(t, "named").MustBeReady(t)
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm",
		odd.Process.Pid)); string(comm) != oddName+"\n" {
		t.Fatalf("its name is %q, %v", comm, err)
	}

	before, after := identify(t, plain.Process.Pid).StartTicks, identify(t,
		odd.Process.Pid).StartTicks
	if after < before || after > before+10_000 {
		t.Errorf("started at %d, after one that started at %d", after, before)
	}
	if Exited(odd.Process.Pid, after) {
		t.Error("exited")
	}
}

// The main thread is a zombie, the process is not.
func TestMainThreadExited(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "leaderless").MustBeReady(t)
	p := identify(t, c.Process.Pid)
	if Exited(p.PID, p.StartTicks) || Look(p) != observe.Present {
		t.Error("exited")
	}

	w, err := Watch(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	if err := w.Signal(0); err != nil {
		t.Errorf("Signal: %v", err)
	}

	c.MustEcho(t)
	c.BecomeZombie(t)
	mustBeGone(t, p)
}

// A number may be given to a thread next.
func TestThread(t *testing.T) {
	t.Parallel()
	tid := otherThread(t)
	start, ok := parseStat([]byte(proctest.StatLine(tid)))
	if !ok {
		t.Fatal("/proc does not show the thread")
	}
	mustBeGone(t, observe.Process{PID: tid, StartTicks: start.startTicks})
	mustBeGone(t, observe.Process{PID: tid, StartTicks: start.startTicks, PidfdInode: 4711})
}

// otherThread returns the id of a thread of ours that is not the first. The Go runtime always has
// one.
func otherThread(t *testing.T) int {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}

	for _, thread := range threads {
		if tid, err := strconv.Atoi(thread.Name()); err == nil && tid != os.Getpid() {
			return tid
		}
	}

	t.Fatalf("none in %v", threads)
	return 0
}

func TestImpossible(t *testing.T) {
	t.Parallel()
	pids := []int{0, -1, -os.Getpid()}
	if strconv.IntSize == 64 {
		pids = append(pids, int(int64(os.Getpid())+1<<32))
	}

	for _, pid := range pids {
		if p, err := Identify(pid); !errors.Is(err, ErrNoProcess) {
			t.Errorf("Identify(%d) = %+v, %v, want ErrNoProcess", pid, p, err)
		}
		if w, err := Watch(pid); !errors.Is(err, ErrNoProcess) {
			t.Errorf("Watch(%d) = %v, %v, want ErrNoProcess", pid, w, err)
		}
		if got := Look(observe.Process{PID: pid, StartTicks: 1, PidfdInode: 1}); got != observe.Unseen {
			t.Errorf("Look(%d) = %d, want unseen", pid, got)
		}
		if Exited(pid, 1) {
			t.Errorf("Exited(%d) = true, want no evidence", pid)
		}
	}
}

// An ordinary user may not signal pid 1.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	first, err := Identify(1)
	if err != nil {
		t.Fatal(err)
	}

	v := judgedByNobody(t, 1, first.StartTicks)
	if v.Kill != unix.EPERM || v.Stat == "" {
		t.Skipf("this user may signal pid 1, or not read its stat: %+v", v)
	}
	if v.Identified != first || v.Exited {
		t.Errorf("got %+v, want %+v and not exited", v, first)
	}
	if !v.ExitedOne {
		t.Error("another start time is no evidence")
	}
}

// judgedByNobody returns an ordinary user's judgement of the process pid: that of user 65534, or of
// the user who runs the tests.
func judgedByNobody(t *testing.T, pid int, startTicks int64) verdict {
	t.Helper()
	var attributes *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}

	c := proctest.StartAs(t, attributes, "judge", strconv.Itoa(pid),
		strconv.FormatInt(startTicks, 10))
	var v verdict
	if err := json.Unmarshal([]byte(c.First), &v); err != nil {
		t.Fatalf("%v: %s", err, c.First)
	}
	return v
}

func BenchmarkIdentify(b *testing.B) {
	pid := os.Getppid()
	for b.Loop() {
		Identify(pid)
	}
}

func BenchmarkLook(b *testing.B) {
	p := identify(b, os.Getppid())
	for b.Loop() {
		Look(p)
	}
}

func BenchmarkExited(b *testing.B) {
	p := identify(b, os.Getppid())
	for b.Loop() {
		Exited(p.PID, p.StartTicks)
	}
}
