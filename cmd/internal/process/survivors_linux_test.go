package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/protocol"
)

// TestSurvivors has, in the session of a leader that dies, a grandchild in a group of its own with the environment
// meant, one with a part of it and one with none; and a process with all of it in another session.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	env := []string{"DPL_SUPERVISOR=db", "DPL_ATTEMPT=3"}
	s := command(t, "bash", "-c", `set -m 2>/dev/null
		(sleep 1000 & echo $!)
		(DPL_ATTEMPT=33 sleep 1000 & echo $!)
		(env -i sleep 1000 & echo $!)
		(setsid sleep 1000 & echo $!)
		exec sleep 1000`)
	s.Env = append(s.Env, env...)
	other := command(t, "sleep", "1000")
	other.Env = append(other.Env, env...)
	released(t, other)
	leader := released(t, s)
	var members []protocol.Process
	for _, line := range logged(t, s, 4) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		p := identify(t, pid)
		t.Cleanup(func() { SignalProcess(p, syscall.SIGKILL) })
		eventually(t, "sleep", func() bool {
			comm, _ := os.ReadFile("/proc/" + line + "/comm")
			return string(comm) == "sleep\n"
		})
		members = append(members, p)
	}
	mustFind(t, leader, env, leader, members[0])
	if err := SignalProcess(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustBeReaped(t, leader.PID)
	mustFind(t, leader, env, members[0])
	mustFind(t, leader, env[:1], members[0], members[1])
	mustFind(t, leader, []string{"DPL_ATTEMPT=33"}, members[1])
	mustFind(t, leader, []string{"DPL_ATTEMPT="})
	mustFind(t, leader, []string{"PL_ATTEMPT=3"})
	mustFind(t, leader, nil)

	later, elsewhere := leader, leader
	later.StartTicks = members[0].StartTicks + 1
	elsewhere.BootID = "another"
	mustFind(t, later, env)
	mustFind(t, elsewhere, env)
	mustFind(t, protocol.Process{PID: leader.PID}, env)

	for _, p := range Survivors(leader, env) {
		if err := SignalProcess(p, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	mustEnd(t, members[0])
	mustFind(t, leader, env)
}

// TestSurvivorsAmidExec looks for a process that does nothing but call execve. Its environment is more than one page, and
// what it is known by comes last.
func TestSurvivorsAmidExec(t *testing.T) {
	t.Parallel()
	s := command(t, "./again")
	env := []string{"DPL_SUPERVISOR=db"}
	s.Env = append(s.Env, "LONG="+strings.Repeat("x", 100_000))
	s.Env = append(s.Env, env...)
	if err := os.WriteFile(filepath.Join(s.Dir, "again"), []byte("#!/bin/sh\nexec ./again\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	leader := released(t, s)
	for range 1000 {
		if mustFind(t, leader, env, leader); t.Failed() { // once tells enough
			return
		}
	}
}

func TestSurvivorsWithoutMainThread(t *testing.T) {
	t.Parallel()
	c := startAs(t, &syscall.SysProcAttr{Setsid: true}, "leaderless").mustBeReady(t)
	leader := identify(t, c.Process.Pid)
	mustFind(t, leader, []string{roleVariable + "=leaderless"}, leader)
	mustFind(t, leader, []string{roleVariable + "=leader"})
}

// TestSurvivorsWithoutEnvironment has a process with an empty environment, which is not asked again and again.
func TestSurvivorsWithoutEnvironment(t *testing.T) {
	t.Parallel()
	leader := released(t, command(t, "sh", "-c", "exec env -i sleep 1000"))
	eventually(t, "sleep", func() bool { return strings.Contains(statLine(leader.PID), "(sleep)") })
	eventually(t, "an environment that is empty for certain", func() bool {
		content, certain := shownEnvironment(leader.PID)
		return content == nil && certain
	})
	mustFind(t, leader, []string{"DPL_SUPERVISOR=db"})
}

func mustFind(t *testing.T, leader protocol.Process, env []string, want ...protocol.Process) {
	t.Helper()
	byPID := func(p, q protocol.Process) int { return p.PID - q.PID }
	got := Survivors(leader, env)
	slices.SortFunc(got, byPID)
	slices.SortFunc(want, byPID)
	if !slices.Equal(got, want) {
		t.Errorf("Survivors of %+v with %q: got %+v, want %+v", leader, env, got, want)
	}
}

func BenchmarkSurvivors(b *testing.B) {
	leader := identify(b, os.Getpid())
	leader.PID = 1 << 30
	for b.Loop() {
		Survivors(leader, []string{"A=1"})
	}
}
