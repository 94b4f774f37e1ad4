package start

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// cleared is a command that leaves, besides its leader, a member of its session without
// environment, a daemon without, and what belongs to another start, and their keeper; and prints
// their pids.
const cleared = `env -i sleep 1000 & echo $!
	env -i setsid sh -c 'setsid sleep 1000 & echo $!'
	env -i DPL_START=0123456789abcdef setsid sleep 1000 & echo $!
	env -i DPL_KEEPER=0123456789abcdef setsid sh -c 'env -i sleep 1000 & echo $!; wait' &
	exec sleep 1000`

// keptCommand is released with a keeper, and returns the pids that it prints.
func keptCommand(
	t *testing.T, script string, n int,
) (g *Gate, id string, printed []observe.Process) {
	t.Helper()
	s := command(t, "sh", "-c", script)
	s.ID = process.NewStartID()
	s.Env = append(s.Env, process.StartVariable+"="+s.ID)
	g = spawned(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return g, s.ID, nil
	}

	for _, line := range logged(t, s, n) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		p := identify(t, pid)
		t.Cleanup(func() { process.SignalProcess(p, unix.SIGKILL) })
		poll.Until(t, "it is sleep", func() bool { return process.Name(pid) == "sleep" })
		printed = append(printed, p)
	}

	return g, s.ID, printed
}

// mustSurvive fails the test unless the survivors are these.
func mustSurvive(
	t *testing.T, leader observe.Process, id string, keeper observe.Process,
	want ...observe.Process,
) {
	t.Helper()
	got, err := process.Survivors(leader, id, keeper)
	byPID := func(p, q observe.Process) int { return p.PID - q.PID }
	slices.SortFunc(got, byPID)
	slices.SortFunc(want, byPID)
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("survivors %v, %v, want %v", got, err, want)
	}
}

// A process without an environment belongs to the start of its parent, up to the keeper, unless it
// is or has the keeper of another start.
func TestKeptSurvivors(t *testing.T) {
	t.Parallel()
	g, id, printed := keptCommand(t, cleared, 4)
	leader, keeper, member, daemon := g.Process(), g.Keeper(), printed[0], printed[1]
	poll.Until(t, "the leader is sleep", func() bool { return process.Name(leader.PID) == "sleep" })
	mustSurvive(t, leader, id, keeper, leader, member, daemon)
	if err := process.SignalProcess(leader, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}

	proctest.MustBeReaped(t, leader.PID)
	mustSurvive(t, leader, id, keeper, member, daemon)
	mustSurvive(t, leader, process.NewStartID(), keeper)
	mustSurvive(t, leader, id, observe.Process{})

	for _, p := range []observe.Process{member, daemon} {
		if err := process.SignalProcess(p, unix.SIGKILL); err != nil {
			t.Error(err)
		}
		mustEnd(t, p)
	}

	mustSurvive(t, leader, id, keeper) // it has only what belongs to others
	if process.Exited(keeper.PID, keeper.StartTicks) {
		t.Error("the keeper has left its children")
	}
}

// A keeper without children ends, and is waited for. Until then there is a survivor.
func TestKeeperOfStartEnds(t *testing.T) {
	t.Parallel()
	g, id, printed := keptCommand(t, `env -i setsid sleep 1000 & echo $!; exit`, 1)
	proctest.MustBeReaped(t, g.Process().PID)
	mustSurvive(t, g.Process(), id, g.Keeper(), printed[0])
	process.SignalProcess(printed[0], unix.SIGKILL)
	proctest.MustBeReaped(t, g.Keeper().PID)
	mustSurvive(t, g.Process(), id, g.Keeper())
}

// A stopped keeper waits for no child, so it is uncertain whether a process is left.
func TestKeeperOfStartStopped(t *testing.T) {
	t.Parallel()
	g, id, _ := keptCommand(t, "", 0)
	keeper := g.Keeper()
	poll.Until(t, "its end",
		func() bool { return process.Exited(g.Process().PID, g.Process().StartTicks) })
	if process.SignalProcess(keeper, unix.SIGSTOP) != nil ||
		process.Exited(keeper.PID, keeper.StartTicks) {
		return // it has ended before
	}

	poll.Until(t, "it is stopped, or was ending already", func() bool {
		return proctest.InState(keeper.PID, "T") || process.Exited(keeper.PID, keeper.StartTicks)
	})

	if proctest.InState(keeper.PID, "T") {
		want := fmt.Sprintf("process %d, the keeper, does not end", keeper.PID)
		found, err := process.Survivors(g.Process(), id, keeper)
		if len(found) > 0 || err == nil || err.Error() != want {
			t.Errorf("got %v, %v", found, err)
		}
	}

	process.SignalProcess(keeper, unix.SIGCONT)
	proctest.MustBeReaped(t, keeper.PID)
}

// When the keeper has been killed, processes left in the session that show no start may belong to
// it.
func TestKeeperOfStartKilled(t *testing.T) {
	t.Parallel()
	g, id, printed := keptCommand(t, cleared, 4)
	leader, keeper := g.Process(), g.Keeper()
	if err := process.SignalProcess(keeper, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}

	proctest.MustBeReaped(t, keeper.PID)
	if process.Exited(leader.PID, leader.StartTicks) {
		t.Fatal("the service ended with its keeper")
	}

	process.SignalProcess(leader, unix.SIGKILL)
	mustEnd(t, leader)
	found, err := process.Survivors(leader, id, keeper)
	const why = "is in its session, but its keeper was killed, so nothing vouches for it"
	want := fmt.Sprintf("process %d (sleep) %s: end it by hand", printed[0].PID, why)
	if len(found) > 0 || err == nil || err.Error() != want {
		t.Errorf("survivors %v, %v", found, err)
	}

	process.SignalProcess(printed[0], unix.SIGKILL)
	mustEnd(t, printed[0])
	mustSurvive(t, leader, id, keeper)
}

// A keeper is in a session of its own, with an environment of its own, and has nothing open; and no
// signal ends it but SIGKILL.
func TestKeeperOfStartAlone(t *testing.T) {
	t.Parallel()
	inherited, err := unix.Open(".", unix.O_RDONLY, 0) // as if this test was started with it
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)

	g, id, _ := keptCommand(t, "exec sleep 1000", 0)
	keeper := g.Keeper()
	mustLead(t, keeper.PID)
	proc := fmt.Sprintf("/proc/%d/", keeper.PID)
	poll.Until(t, "it has its name",
		func() bool { return process.Name(keeper.PID) == startKeeperName })
	if environ, err := os.ReadFile(proc +
		"environ"); string(environ) != process.KeeperVariable+"="+id+"\x00" {
		t.Errorf("its environment is %q, %v", environ, err)
	}
	if dir, err := os.Readlink(proc + "cwd"); dir != "/" {
		t.Errorf("it is in %q, %v", dir, err)
	}

	mustHoldNothing(t, keeper.PID)
	mustHold(t, keeper.PID, g.Process().PID)
	threads, err := filepath.Glob(proc + "task/*")
	if os.Getenv(entryVariable) != "" && len(threads) != 1 {
		t.Errorf("it runs Go: it has %d threads, %v", len(threads), err)
	}

	for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGUSR1} {
		if err := process.SignalProcess(keeper, sig); err != nil {
			t.Error(err)
		}
	}

	if parent(t, g.Process().PID) != strconv.Itoa(keeper.PID) {
		t.Error("it is not the parent of the command")
	}

	process.SignalProcess(g.Process(), unix.SIGKILL)
	proctest.MustBeReaped(t, keeper.PID)
}

// parent returns the pid of the parent of pid.
func parent(t *testing.T, pid int) string {
	return proctest.Value(t, fmt.Sprintf("/proc/%d/status", pid), "PPid:")
}

// mustHoldNothing fails the test unless pid has nothing open but /dev/null and what the runtime has
// opened for itself.
func mustHoldNothing(t *testing.T, pid int) {
	t.Helper()
	poll.Until(t, "it has nothing open", func() bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		return !slices.ContainsFunc(files, func(file string) bool {
			to, _ := os.Readlink(file)
			return to != os.DevNull && !strings.HasPrefix(to, "anon_inode:") &&
				!strings.HasPrefix(to, "/sys/fs/cgroup/")
		})
	})
}

// mustHold fails the test unless pid holds a handle on the process held, which makes those of
// others cheaper.
func mustHold(t *testing.T, pid, held int) {
	t.Helper()
	poll.Until(t, fmt.Sprintf("a handle on %d", held), func() bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
		return slices.ContainsFunc(files, func(file string) bool {
			text, _ := os.ReadFile(file)
			return strings.Contains(string(text), fmt.Sprintf("\nPid:\t%d\n", held))
		})
	})
}

// If the keeper is killed before the release, so is the stage, and nothing runs; if the stage is,
// the keeper ends.
func TestKeeperOfStartKilledBefore(t *testing.T) {
	t.Parallel()
	for _, victim := range []func(*Gate) observe.Process{(*Gate).Keeper, (*Gate).Process} {
		s := command(t, "sh", "-c", "echo begun")
		g := spawned(t, s)
		if err := process.SignalProcess(victim(g), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}

		proctest.MustBeReaped(t, g.Keeper().PID)
		mustEnd(t, g.Process())
		g.Release()
		mustHaveRunNothing(t, s)
	}
}

// A pass that is killed before the release leaves neither keeper nor stage.
func TestPassKilledBeforeRelease(t *testing.T) {
	t.Parallel()
	for range 5 {
		c, spawned := startPass(t, command(t, "sleep", "1000"))
		stage := spawned[0]
		keeper, err := strconv.Atoi(parent(t, stage.PID))
		if err != nil {
			t.Fatal(err)
		}

		c.Die(t)
		mustEnd(t, stage)
		proctest.MustBeReaped(t, keeper)
	}
}

// entryVariable says that the test was linked so that a keeper is done before Go begins.
const entryVariable = "DPL_TEST_ENTRY"

// The keepers of the commands that are installed are those of package entry.
func TestKeptFromEntry(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("links this test once more")
	}

	t.Parallel()
	cmd := exec.Command("go", "test", "-count=1", "-ldflags=-E dpl_entry", "-v",
		"-run=^Test(KeptSurvivors|KeeperOfStart.*|PassKilledBeforeRelease|Gate.*|OnExit.*)$", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", entryVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestKeeperOfStartAlone") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// BenchmarkSpawn starts and cancels a stage.
func BenchmarkSpawn(b *testing.B) {
	dir := b.TempDir()
	s := Command{Argv: []string{"true"}, Dir: dir, Log: filepath.Join(dir, "log"),
		ID: process.NewStartID()}
	for b.Loop() {
		g, err := Spawn(s)
		if err != nil {
			b.Fatal(err)
		}
		if err := g.Cancel(); err != nil {
			b.Fatal(err)
		}
	}
}
