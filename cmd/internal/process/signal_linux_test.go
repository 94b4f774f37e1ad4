package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"

	"golang.org/x/sys/unix"
)

// signals are the two ways to signal a process.
var signals = map[string]func(observe.Process, syscall.Signal) error{
	"SignalProcess": SignalProcess,
	"SignalGroup":   SignalGroup,
}

// leader is a child that leads a process group.
func leader(t *testing.T) (*proctest.Child, observe.Process) {
	t.Helper()
	c := proctest.StartAs(t, &syscall.SysProcAttr{Setpgid: true}, "echo").MustBeReady(t)
	return c, identify(t, c.Process.Pid)
}

// A process that is not certainly p gets no signal. It is no evidence that p has gone, unless
// another process has its pid.
func TestSignalOthers(t *testing.T) {
	t.Parallel()
	c, p := leader(t)
	for what, change := range map[string]func(*observe.Process){
		"no identity":           func(q *observe.Process) { *q = observe.Process{PID: p.PID} },
		"no start time":         func(q *observe.Process) { q.StartTicks = 0 },
		"another host":          func(q *observe.Process) { q.HostID = "0123456789abcdef" },
		"another boot":          func(q *observe.Process) { q.BootID = "b0071d" },
		"another pid namespace": func(q *observe.Process) { q.PIDNamespace = "1" },
		"started before":        func(q *observe.Process) { q.StartTicks-- },
		"started after":         func(q *observe.Process) { q.StartTicks++ },
		"impossible":            func(q *observe.Process) { q.PID = -p.PID },
		"all processes":         func(q *observe.Process) { q.PID = -1 },
		"our own group":         func(q *observe.Process) { q.PID = 0 },
	} {
		q := p
		change(&q)
		gone := q.StartTicks != p.StartTicks && q.StartTicks != 0 && q.Known() || q.PID != p.PID
		for name, signal := range signals {
			if err := signal(q, syscall.SIGKILL); err == nil ||
				errors.Is(err, ErrNoProcess) != gone {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}

	c.MustEcho(t)
}

func TestSignalEnded(t *testing.T) {
	t.Parallel()
	for name, signal := range signals {
		c, p := leader(t)
		if err := signal(p, syscall.SIGURG); err != nil { // which Go programs ignore
			t.Errorf("%s: %v", name, err)
		}

		c.MustEcho(t)
		if err := signal(p, 65); !errors.Is(err, unix.EINVAL) {
			t.Errorf("%s 65: %v, want EINVAL", name, err)
		}

		c.BecomeZombie(t)
		if err := signal(p, syscall.SIGTERM); !errors.Is(err, ErrNoProcess) {
			t.Errorf("%s to a zombie: %v, want ErrNoProcess", name, err)
		}

		c.Wait()
		if err := signal(p, syscall.SIGTERM); !errors.Is(err, ErrNoProcess) {
			t.Errorf("%s to nobody: %v, want ErrNoProcess", name, err)
		}
	}
}

// A new process that has the number of a dead one is not signalled in its place.
func TestSignalRecycled(t *testing.T) {
	t.Parallel()
	if !inside(t, "-Urp --mount-proc", "-p --mount-proc") {
		return
	}

	old := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, old.Process.Pid)
	old.Die(t)
	waitForTickAfter(t, p.StartTicks)
	c := startWithPID(t, p.PID)
	if err := unix.Setpgid(p.PID, p.PID); err != nil && err != unix.EACCES { // it runs another program since
		t.Fatal(err)
	}

	for name, signal := range signals {
		if err := signal(p, syscall.SIGKILL); !errors.Is(err, ErrNoProcess) {
			t.Errorf("%s: %v, want ErrNoProcess", name, err)
		}
	}

	c.MustEcho(t)
}

func TestSignalGroupRefuses(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, c.Process.Pid)
	if err := SignalGroup(p, syscall.SIGKILL); err == nil || errors.Is(err, ErrNoProcess) {
		t.Errorf("SignalGroup of one that leads none: %v", err)
	}

	c.MustEcho(t)
	if err := SignalProcess(p, syscall.SIGKILL); err != nil {
		t.Error(err)
	}

	mustEnd(t, p)
}

// family releases a shell with a child in its group, whose process it returns too.
func family(t *testing.T) (parent, child observe.Process) {
	t.Helper()
	s := command(t, "sh", "-c", "sleep 1000 & echo $!; wait; wait; wait")
	parent = released(t, s)
	pid, err := strconv.Atoi(logged(t, s, 1)[0])
	if err != nil {
		t.Fatal(err)
	}

	child = identify(t, pid)
	t.Cleanup(func() { SignalProcess(child, syscall.SIGKILL) })

	return parent, child
}

func mustStop(t *testing.T, processes ...observe.Process) {
	t.Helper()
	for _, p := range processes {
		poll.Until(t, "stopped", func() bool {
			s, ok := parseStat([]byte(proctest.StatLine(p.PID)))
			return ok && s.state == 'T'
		})
	}
}

// It reaches all of the group, also those that are stopped.
func TestSignalGroup(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, stopped := range []bool{false, true} {
			parent, child := family(t)
			if stopped {
				if err := SignalGroup(parent, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				mustStop(t, parent, child)
			}

			if err := SignalGroup(parent, sig); err != nil {
				t.Error(err)
			}

			mustEnd(t, parent)
			mustEnd(t, child)
		}
	}
}

func TestSignalProcess(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		parent, child := family(t)
		if err := SignalGroup(parent, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}

		mustStop(t, parent, child)
		if err := SignalProcess(parent, sig); err != nil {
			t.Error(err)
		}

		mustEnd(t, parent)
		mustStop(t, child)
	}
}

// A kernel before 6.9 answers EINVAL, as this one does to a flag of the future.
func TestSignalGroupOneByOne(t *testing.T) {
	t.Parallel()
	const unknown = 1 << 30
	parent, child := family(t)
	w := watched(t, parent.PID)
	if err := w.signalGroup(parent.PID, syscall.SIGKILL, unknown); err != nil {
		t.Error(err)
	}

	mustEnd(t, parent)
	mustEnd(t, child)
}

// If a leader ends as soon as one of the others does, which is before its own turn, no process is
// left out.
func TestSignalGroupEndingAmid(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c",
		`sleep 1000 & first=$!; for n in 2 3 4 5; do sleep 1000 & echo $!; done; echo $first; wait $first`)
	leader := released(t, s)
	var members []observe.Process

	for _, line := range logged(t, s, 5) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		p := identify(t, pid)
		t.Cleanup(func() { SignalProcess(p, syscall.SIGKILL) })
		members = append(members, p)
	}

	w := watched(t, leader.PID)
	if err := w.signalGroup(leader.PID, syscall.SIGKILL, 1<<30); err != nil {
		t.Error(err)
	}

	mustEnd(t, leader)
	for _, p := range members {
		mustEnd(t, p)
	}
}

// A group whose leader has ended is left alone, whichever way.
func TestSignalGroupWithoutLeader(t *testing.T) {
	t.Parallel()
	parent, child := family(t)
	w := watched(t, parent.PID)
	if err := SignalProcess(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	mustBeDone(t, w)
	for _, flags := range []int{unix.PIDFD_SIGNAL_PROCESS_GROUP, 1 << 30} {
		if err := w.signalGroup(parent.PID, syscall.SIGSTOP, flags); !errors.Is(err, ErrNoProcess) {
			t.Errorf("signalGroup with flags %#x: %v, want ErrNoProcess", flags, err)
		}
	}

	if err := SignalGroup(parent, syscall.SIGSTOP); !errors.Is(err, ErrNoProcess) {
		t.Errorf("SignalGroup: %v, want ErrNoProcess", err)
	}
	if s, ok := parseStat([]byte(proctest.StatLine(child.PID))); !ok || s.state == 'T' {
		t.Errorf("the child is %c", s.state)
	}
}

// killAs kills the process in its arguments, a pid and its start time, both ways.
func killAs() string {
	var pid int
	var start int64
	if _, err := fmt.Sscan(strings.Join(os.Args[1:], " "), &pid, &start); err != nil {
		return err.Error()
	}
	h := Here()
	p := observe.Process{PID: pid, HostID: h.ID, BootID: h.BootID, PIDNamespace: h.PIDNamespace,
		StartTicks: start}
	return fmt.Sprint(SignalProcess(p, syscall.SIGKILL), ", ", SignalGroup(p, syscall.SIGKILL))
}

// The error of a process that belongs to another user is not that it has gone.
func TestSignalNotOurs(t *testing.T) {
	t.Parallel()
	nobody := proctest.AsNobody(t)
	c, p := leader(t)
	v := proctest.StartAs(t, nobody, "kill", strconv.Itoa(p.PID),
		strconv.FormatInt(p.StartTicks, 10))
	if want := "operation not permitted, operation not permitted"; v.First != want {
		t.Errorf("got %s, want %s", v.First, want)
	}
	c.MustEcho(t)
}
