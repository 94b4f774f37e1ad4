package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
	"golang.org/x/sys/unix"
)

const insideVariable = "DPL_PROCESS_TEST_INSIDE"

// inside reports whether the test runs in the namespaces that unshare(1) makes from one of flags.
// If not, it runs the test there, in a process of its own, and passes its result on.
func inside(t *testing.T, flags ...string) bool {
	t.Helper()
	if os.Getenv(insideVariable) == t.Name() {
		return true
	}

	var refusals []string
	for _, f := range flags {
		args := append(strings.Fields(f), "--fork", "--kill-child")
		if out, err := exec.Command("unshare",
			append(args, "true")...).CombinedOutput(); err != nil {
			refusals = append(refusals, fmt.Sprintf("unshare %s: %v: %s", f, err, out))
			continue
		}

		ctx, cancel := context.WithTimeout(context.Background(), 2*poll.Patience)
		defer cancel()

		cmd := exec.CommandContext(ctx, "unshare",
			append(args, os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")...)
		cmd.Env = append(os.Environ(), insideVariable+"="+t.Name())
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "--- SKIP: "+t.Name()+" ") {
			t.Skipf("unshare %s: %s", f, out)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
			t.Errorf("unshare %s: %v\n%s", f, err, out)
		}

		return false
	}

	t.Skip(strings.Join(refusals, "\n"))
	return false
}

// In a pid namespace of its own, as in a container, a process has booted when process 1 was started.
func TestBootedWithProcessOne(t *testing.T) {
	const began = "DPL_PROCESS_TEST_BEGAN"
	if os.Getenv(insideVariable) == "" {
		t.Setenv(began, time.Now().Format(time.RFC3339Nano))
	}
	if !inside(t, "-Urp --mount-proc", "-p --mount-proc") {
		return
	}

	after, err := time.Parse(time.RFC3339Nano, os.Getenv(began))
	if err != nil {
		t.Fatal(err)
	}
	after = after.Add(-2 * tick) // start times are cut to ticks
	if got := Here().BootedAt; got.Before(after) || got.After(time.Now()) {
		t.Errorf("booted at %v, which is not between %v and now", got, after)
	}
}

// A new process that gets the number of a dead one is neither taken for it nor signalled in its
// place.
func TestRecycled(t *testing.T) {
	t.Parallel()
	if !inside(t, "-Urp --mount-proc", "-p --mount-proc") {
		return
	}

	old := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, old.Process.Pid)
	w := watched(t, p.PID)
	old.Die(t)
	waitForTickAfter(t, p.StartTicks)
	c := startWithPID(t, p.PID)
	q := identify(t, p.PID)
	if q.StartTicks <= p.StartTicks {
		t.Fatalf("the new one started at %d, the old one at %d", q.StartTicks, p.StartTicks)
	}
	if !Exited(p.PID, p.StartTicks) || Look(p) != observe.Gone {
		t.Error("the old one is not reported exited")
	}
	if Exited(q.PID, q.StartTicks) || Look(q) != observe.Present {
		t.Error("the new one is reported exited")
	}

	mustBeDone(t, w)
	if err := w.Signal(syscall.SIGKILL); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Signal: %v, want ErrNoProcess", err)
	}

	c.MustEcho(t)
	if err := watched(t, q.PID).Signal(syscall.SIGKILL); err != nil {
		t.Errorf("Signal to the new one: %v", err)
	}

	c.Wait()
	if !Exited(q.PID, q.StartTicks) || Look(q) != observe.Gone {
		t.Error("the new one is not reported exited after its death")
	}
}

// waitForTickAfter returns when a process that starts now starts after the tick.
func waitForTickAfter(t *testing.T, tick int64) {
	t.Helper()
	const perSecond = 100 // USER_HZ
	poll.Until(t, fmt.Sprintf("tick %d is over", tick), func() bool {
		now, ok := clock(unix.CLOCK_BOOTTIME)
		return ok && now > time.Duration(tick+1)*time.Second/perSecond
	})
}

// startWithPID starts a process that gets the number pid, which is free. Other threads may snatch
// it, and soon end.
func startWithPID(t *testing.T, pid int) *proctest.Child {
	t.Helper()
	var c *proctest.Child
	poll.Until(t, fmt.Sprintf("a process with the number %d", pid), func() bool {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)),
			0); err != nil {
			t.Skip(err)
		}
		c = proctest.Start(t, "echo").MustBeReady(t)
		return c.Process.Pid == pid
	})

	return c
}

// /proc belongs to our parent: the process it shows for a pid is another one.
func TestForeignProc(t *testing.T) {
	t.Parallel()
	if !inside(t, "-Urp", "-p") {
		return
	}

	c := proctest.Start(t, "echo").MustBeReady(t)
	pid := c.Process.Pid
	if got := identify(t, pid); got != (observe.Process{PID: pid}) {
		t.Errorf("Identify = %+v, want the pid alone", got)
	}
	if Exited(pid, 4711) {
		t.Error("exited, by another one's start time")
	}

	w := watched(t, pid)
	c.Die(t)
	mustBeDone(t, w)
	mustBeGone(t, observe.Process{PID: pid, StartTicks: 4711})
}

// In a time namespace start times and the clocks that count from boot are shifted: others must not
// compare them.
func TestTimeNamespace(t *testing.T) {
	t.Parallel()
	if !inside(t, "-UrTp --mount-proc --monotonic 1000000 --boottime 1000000",
		"-Tp --mount-proc --monotonic 1000000 --boottime 1000000") {
		return
	}
	if ms, ok := Monotonic(); ok || ms != 0 {
		t.Errorf("Monotonic = %d, %t, want none", ms, ok)
	}
	if at := Here().BootedAt; !at.IsZero() {
		t.Errorf("BootedAt %v, want none", at)
	}

	c := proctest.Start(t, "echo").MustBeReady(t)
	pid := c.Process.Pid
	if got := identify(t, pid); got != (observe.Process{PID: pid}) {
		t.Errorf("Identify = %+v, want the pid alone", got)
	}
	if Exited(pid, 4711) {
		t.Error("exited, by a start time read outside")
	}

	c.BecomeZombie(t)
	mustBeGone(t, observe.Process{PID: pid, StartTicks: 4711})
}

// A /proc mounted with subset=pid has start times but no boot id, and a start time means nothing
// without one.
func TestNoBootID(t *testing.T) {
	t.Parallel()
	if !inside(t, "-Urp --mount-proc", "-m") {
		return
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, "subset=pid"); err != nil {
		t.Skip(err)
	}
	if id := Here().BootID; id != "" {
		t.Fatalf("BootID %q", id)
	}

	pid := proctest.Start(t, "echo").MustBeReady(t).Process.Pid
	if got := identify(t, pid); got != (observe.Process{PID: pid}) {
		t.Errorf("Identify = %+v, want the pid alone", got)
	}
}

// With hidepid, /proc hides the processes of other users as if they were gone.
func TestHidden(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	if !inside(t, "-m") {
		return
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid=invisible"); err != nil {
		t.Skip(err)
	}

	c := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, c.Process.Pid)
	v := judgedByNobody(t, p.PID, p.StartTicks)
	if want := (verdict{Kill: unix.EPERM, Identified: observe.Process{PID: p.PID}}); v != want {
		t.Errorf("got %+v, want %+v", v, want)
	}
}
