package start

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// recorded returns a gate before a command with a reserved exit record, and the paths of that
// record until it is complete and after.
func recorded(t *testing.T, argv ...string) (g *Gate, reserved, complete string) {
	t.Helper()
	return recordedStart(t, command(t, argv...))
}

func recordedStart(t *testing.T, s Command) (g *Gate, reserved, complete string) {
	t.Helper()
	return recordedBy(t, s, spawned)
}

// recordedBy is like recordedStart for a gate from spawn.
func recordedBy(t *testing.T, s Command, spawn func(*testing.T, Command) *Gate) (
	g *Gate, reserved, complete string,
) {
	t.Helper()
	s.ID = process.NewStartID()
	s.Env = append(s.Env, process.StartVariable+"="+s.ID)
	paths := layout.In(s.Dir)
	s.Record = paths.ReservedExitPath("g", "s", s.ID)
	g = spawn(t, s)
	x := group.ExitRecord{ServiceID: "s", StartID: s.ID, PID: g.Process().PID,
		Process: g.Process(), Phase: group.PhaseReserved}
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.Record), 0o700),
		os.WriteFile(s.Record, []byte(x.Encode()), 0o600)); err != nil {
		t.Fatal(err)
	}
	return g, s.Record, paths.ExitPath("g", "s", s.ID)
}

// read returns the record at path, once it is there.
func read(t *testing.T, path string) group.ExitRecord {
	t.Helper()
	poll.Until(t, "the record", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := group.DecodeExitRecord(string(text))
	if err != nil || len(text) != group.ExitRecordSize {
		t.Fatalf("%v, %d bytes: %s", err, len(text), text)
	}
	return x
}

// The keeper records how the command ended, and ends.
func TestKeeperOfStartRecords(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]policy.Exit{
		"exit 0":        {Code: policy.CodeExited, Status: 0},
		"exit 75":       {Code: policy.CodeExited, Status: 75},
		"kill -TERM $$": {Code: policy.CodeKilled, Status: 15},
		"kill -KILL $$": {Code: policy.CodeKilled, Status: 9},
		"exit 127":      {Code: policy.CodeExited, Status: 127},
		// The orphan ends first, and the keeper adopts it.
		"(sh -c 'exit 3' &) ; sleep 0.1; exit 4": {Code: policy.CodeExited, Status: 4},
	} {
		g, reserved, complete := recorded(t, "sh", "-c", script)
		if err := g.Release(); err != nil {
			t.Fatal(err)
		}

		got := read(t, complete)
		if got.Phase != group.PhaseEnded || got.End.Code != want.Code ||
			got.End.Status != want.Status || got.End.Reason != policy.Exited || got.KeeperSignalled {
			t.Errorf("%s: got %+v", script, got)
		}
		if got.Process != g.Process() || got.End.MaxRSS == 0 {
			t.Errorf("%s: it is about %+v, and used %d KiB", script, got.Process, got.End.MaxRSS)
		}
		if _, err := os.Stat(reserved); err == nil {
			t.Errorf("%s: the reserved file is still there", script)
		}
		proctest.MustBeReaped(t, g.Keeper().PID)
	}
}

// While the command runs, its record says that it has begun; and a keeper that gets TERM says so.
func TestKeeperOfStartRecordsSignal(t *testing.T) {
	t.Parallel()
	g, reserved, complete := recorded(t, "sleep", "1000")
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}

	if x := read(t, reserved); x.Phase != group.PhaseExec {
		t.Errorf("while it runs: %+v", x)
	}
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		if err := process.SignalProcess(g.Keeper(), sig); err != nil {
			t.Fatal(err)
		}
	}

	process.SignalProcess(g.Process(), unix.SIGTERM)
	// Go tells of a signal a little later.
	x := read(t, complete)
	if !x.KeeperSignalled && os.Getenv(entryVariable) != "" || x.End.Status != 15 {
		t.Errorf("got %+v", x)
	}
}

// A process that the command leaves keeps its keeper, and its end is on record.
func TestKeeperOfStartRecordsAndStays(t *testing.T) {
	t.Parallel()
	g, _, complete := recorded(t, "sh", "-c", "setsid sleep 1000 & exit 5")
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}

	if x := read(t, complete); x.End.Status != 5 {
		t.Errorf("got %+v", x)
	}
	proctest.MustBeReaped(t, g.Process().PID)
	keeper := g.Keeper()
	poll.Until(t, "it has its name again",
		func() bool { return process.Name(keeper.PID) == startKeeperName })
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT} {
		process.SignalProcess(keeper, sig)
	}

	left, err := process.Survivors(g.Process(), g.start.ID, keeper)
	if len(left) != 1 || err != nil {
		t.Fatalf("survivors %v, %v", left, err)
	}
	process.SignalProcess(left[0], unix.SIGKILL)
	proctest.MustBeReaped(t, keeper.PID)
}

// If the gate is closed, nothing has run, and the keeper removes the record.
func TestKeeperOfStartRemovesRecord(t *testing.T) {
	t.Parallel()
	g, reserved, complete := recorded(t, "true")
	if err := g.Cancel(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{reserved, complete} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

// A command that cannot be executed is on record as well, in case the pass has died.
func TestKeeperOfStartRecordsFailure(t *testing.T) {
	t.Parallel()
	g, _, complete := recorded(t, "/no/such")
	err := g.Release()
	x := read(t, complete)
	if err == nil || x.End.Reason != policy.StartFailed || x.End.Error != err.Error() ||
		x.End.Code != "" {
		t.Errorf("got %v, and %+v", err, x)
	}
}

// If the keeper is killed, the record says that the command has begun, and nothing else.
func TestKeeperOfStartKilledRecordsNothing(t *testing.T) {
	t.Parallel()
	g, reserved, _ := recorded(t, "sleep", "1000")
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}

	process.SignalProcess(g.Keeper(), unix.SIGKILL)
	proctest.MustBeReaped(t, g.Keeper().PID)
	process.SignalProcess(g.Process(), unix.SIGKILL)
	mustEnd(t, g.Process())
	if x := read(t, reserved); x.Phase != group.PhaseExec {
		t.Errorf("got %+v", x)
	}
}

// Without its record a command does not begin, because its end would be lost.
func TestKeeperOfStartWithoutRecord(t *testing.T) {
	t.Parallel()
	g, reserved, _ := recorded(t, "sh", "-c", "echo begun")
	if err := os.Remove(reserved); err != nil {
		t.Fatal(err)
	}
	if err := g.Release(); err == nil || !strings.Contains(err.Error(), "exit record") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(g.start.Log); len(text) > 0 {
		t.Errorf("it has written %q, %v", text, err)
	}
}

// No one who can write to the ledger leads a keeper or a stage elsewhere.
func TestKeeperOfStartFollowsNoLink(t *testing.T) {
	t.Parallel()
	g, reserved, _ := recorded(t, "sh", "-c", "echo begun")
	dir := filepath.Dir(reserved)
	if err := errors.Join(os.Rename(dir, dir+".moved"), os.Symlink(dir+".moved", dir)); err != nil {
		t.Fatal(err)
	}
	if err := g.Release(); err == nil {
		t.Error("released")
	}
	if text, err := os.ReadFile(g.start.Log); len(text) > 0 {
		t.Errorf("it has written %q, %v", text, err)
	}
}
