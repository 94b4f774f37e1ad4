package process

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
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// TestSurvivors has, below a leader that dies: a grandchild in a group of its own, one in a session
// of its own, one that another start is around, one of another start alone, one without an
// environment; and beside them a process of another start whose leader could get the same number.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	ourStart, otherStart := NewStartID(), NewStartID()
	s := command(t, "bash", "-c", `set -m 2>/dev/null
		(sleep 1000 & echo $!)
		(setsid sleep 1000 & echo $!)
		(DPL_START=`+otherStart+`,$DPL_START sleep 1000 & echo $!)
		(DPL_START=`+otherStart+` sleep 1000 & echo $!)
		(env -i sleep 1000 & echo $!)
		exec sleep 1000`)

	s.Env = append(s.Env, "DPL_SUPERVISOR=db", "DPL_ATTEMPT=3", "DPL_START="+ourStart)
	other := command(t, "sleep", "1000")
	other.Env = append(other.Env, "DPL_SUPERVISOR=db", "DPL_ATTEMPT=3", "DPL_START="+otherStart)
	leader := released(t, s)
	stranger := released(t, other)
	sleeps := func(pid int) {
		poll.Until(t, "sleep", func() bool {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return string(comm) == "sleep\n"
		})
	}

	var members []observe.Process
	for _, line := range logged(t, s, 5) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		p := identify(t, pid)
		t.Cleanup(func() { SignalProcess(p, syscall.SIGKILL) })
		sleeps(pid)
		members = append(members, p)
	}

	sleeps(leader.PID) // now that the last of its subshells has ended
	mustFind(t, leader, ourStart, leader, members[0], members[1], members[2])
	if found, doubt := Survivors(leader, ourStart, identify(t, os.Getpid())); found != nil || doubt != nil {
		t.Errorf("a keeper that has become this process leaves %v, %v", found, doubt)
	}
	if !InGroup(leader, leader) || InGroup(members[0], leader) || InGroup(members[1], leader) {
		t.Errorf("who is in the group of %d", leader.PID)
	}
	if err := SignalProcess(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	proctest.MustBeReaped(t, leader.PID)
	mustFind(t, leader, ourStart, members[0], members[1], members[2])
	mustFind(t, leader, otherStart, members[2], members[3], stranger)
	mustFind(t, leader, ourStart[1:])
	mustFind(t, leader, "")

	later, elsewhere := leader, leader
	later.StartTicks = members[2].StartTicks + 1000
	elsewhere.BootID = "another"
	mustFind(t, later, ourStart)
	mustFind(t, elsewhere, ourStart)
	mustFind(t, observe.Process{PID: leader.PID}, ourStart)

	survivors, _ := Survivors(leader, ourStart, observe.Process{})

	for _, p := range survivors {
		if err := SignalProcess(p, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}

	for _, p := range members[:3] {
		mustEnd(t, p)
	}

	mustFind(t, leader, ourStart)
}

// TestSurvivorsAmidExec looks for a process that does nothing but call execve. Its environment is
// more than one page, and what it is known by comes last.
func TestSurvivorsAmidExec(t *testing.T) {
	t.Parallel()
	ourStart := NewStartID()
	s := command(t, "./again")
	s.Env = append(s.Env, "LONG="+strings.Repeat("x", 100_000), "DPL_START="+ourStart)
	if err := os.WriteFile(filepath.Join(s.Dir, "again"), []byte("#!/bin/sh\nexec ./again\n"),
		0o755); err != nil {
		t.Fatal(err)
	}

	leader := released(t, s)
	found, untold := 0, 0
	for found+10*untold < 200 { // on a busy machine it is often amid execve each time that it is asked
		begin := time.Now()
		switch survivors, err := Survivors(leader, ourStart, observe.Process{}); {
		case slices.Equal(survivors, []observe.Process{leader}) && err == nil:
			found++
		case len(survivors) > 0 || err == nil:
			t.Fatalf("got %+v, %v, want %+v", survivors, err, leader)
		case time.Since(begin) < execPatience:
			t.Fatalf("given up after %v: %v", time.Since(begin), err)
		default:
			untold++
		}
	}

	if found == 0 {
		t.Error("never found")
	}
}

// amidEndScript has a process that the kernel shows no environment of for as long as it likes: the
// first of a pid namespace is not gone before all others are waited for, and the parent of one of
// them is stopped.
const amidEndScript = `child() {
		until child=$(cat /proc/$1/task/$1/children) && grep -qx sleep /proc/${child% }/comm; do sleep 0.01; done 2>/dev/null
		child=${child% }
	}
	unshare $UNSHARE --fork sleep 1000 & child $!; first=$child
	nsenter -t $first $NSENTER sleep 1000 & child $!
	kill -STOP $! && until grep -q "^State:.T" /proc/$!/status; do sleep 0.01; done
	kill -KILL $first && echo $first $! && wait`

// TestSurvivorsAmidTheirEnd looks for a process that is about to end, and shows no environment as
// one amid a long execve does.
func TestSurvivorsAmidTheirEnd(t *testing.T) {
	t.Parallel()
	ourStart := NewStartID()
	unshare, nsenter := "-p", "-p"
	if os.Geteuid() != 0 {
		unshare, nsenter = "-Urp", "-U -p --preserve-credentials"
	}

	if out, err := exec.Command("unshare", unshare, "--fork", "true").CombinedOutput(); err != nil {
		if os.Geteuid() != 0 && os.Getenv("STRICT") != "" {
			t.Fatalf("needs root, or user namespaces: unshare %s, and STRICT leaves nothing out: "+
				"%v: %s", unshare, err, out)
		}
		t.Skipf("unshare %s: %v: %s", unshare, err, out)
	}

	s := command(t, "sh", "-c", amidEndScript)
	s.Env = append(s.Env, "UNSHARE="+unshare, "NSENTER="+nsenter)
	leader := released(t, s)
	t.Cleanup(func() { SignalGroup(leader, syscall.SIGKILL) })
	var first, parent int
	if _, err := fmt.Sscan(logged(t, s, 1)[0], &first, &parent); err != nil {
		t.Fatal(err)
	}

	poll.Until(t, "one of which it cannot be told", func() bool {
		_, err := Survivors(leader, ourStart, observe.Process{})
		return err != nil && strings.Contains(err.Error(), strconv.Itoa(first))
	})

	SignalProcess(identify(t, parent), syscall.SIGCONT)
	poll.Until(t, "it is gone", func() bool {
		survivors, err := Survivors(leader, ourStart, observe.Process{})
		return survivors == nil && err == nil
	})
}

func TestSurvivorsWithoutMainThread(t *testing.T) {
	t.Parallel()
	ourStart, otherStart := NewStartID(), NewStartID()
	cmd := exec.Command("/proc/self/exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = append(os.Environ(), "DPL_START="+ourStart)
	c := proctest.StartCommand(t, cmd, "leaderless").MustBeReady(t)
	leader := identify(t, c.Process.Pid)
	mustFind(t, leader, ourStart, leader)
	mustFind(t, leader, otherStart)
}

// TestSurvivorsWithoutEnvironment has a process with an empty environment, which is not asked again
// and again.
func TestSurvivorsWithoutEnvironment(t *testing.T) {
	t.Parallel()
	ourStart := NewStartID()
	leader := released(t, command(t, "sh", "-c", "exec env -i sleep 1000"))
	poll.Until(t, "sleep",
		func() bool { return strings.Contains(proctest.StatLine(leader.PID), "(sleep)") })
	poll.Until(t, "an environment that is empty for certain", func() bool {
		content, certain := shownEnvironment(leader.PID)
		return content == nil && certain
	})

	mustFind(t, leader, ourStart)
}

// mustFind waits until no process is in the middle of a long execve.
func mustFind(t *testing.T, leader observe.Process, startID string, want ...observe.Process) {
	t.Helper()
	var got []observe.Process
	poll.Until(t, "it can be told who they are", func() bool {
		var err error
		got, err = Survivors(leader, startID, observe.Process{})
		return err == nil
	})

	byPID := func(p, q observe.Process) int { return p.PID - q.PID }
	slices.SortFunc(got, byPID)
	slices.SortFunc(want, byPID)
	if !slices.Equal(got, want) {
		t.Errorf("Survivors of %+v with %q: got %+v, want %+v", leader, startID, got, want)
	}
}

func BenchmarkSurvivors(b *testing.B) {
	ourStart := NewStartID()
	leader := identify(b, os.Getpid())
	leader.PID = 1 << 30
	for b.Loop() {
		Survivors(leader, ourStart, observe.Process{})
	}
}
