package process

import (
	"os"
	"slices"
	"strconv"
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
