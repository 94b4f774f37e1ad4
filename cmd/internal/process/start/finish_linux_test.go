package start

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// finished returns a released gate before "exit 7", which has a finish command; and the paths of
// the record until it is complete and after.
func finished(t *testing.T, limit time.Duration, env []string, script string) (
	g *Gate, reserved, complete string,
) {
	t.Helper()
	s := command(t, "sh", "-c", "exit 7")
	s.Finish, s.FinishTimeout = []string{"sh", "-c", script}, limit
	s.Env = append(s.Env, env...)
	g, reserved, complete = recordedStart(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	return g, reserved, complete
}

// The record has the status of the finish command, which gets an environment of any size, the usual
// effect of signals, and knows how the command ended.
func TestFinish(t *testing.T) {
	t.Parallel()
	large := []string{"LARGE=" + strings.Repeat("x", 120<<10), "LARGER=" + strings.Repeat("y", 120<<10)}
	for script, want := range map[string]string{
		"exit 0":   "0",
		"exit 125": "125",
		`test "$DPL_EXIT_CODE $DPL_EXIT_STATUS $DPL_EXIT_REASON" = "exited 7 exited"`: "0",
		"kill -TERM $$; exit 3":                         "SIGTERM",
		"kill -INT $$; exit 3":                          "SIGINT",
		"kill -QUIT $$; exit 3":                         "SIGQUIT",
		"kill -HUP $$; exit 3":                          "SIGHUP",
		"exit $((${#LARGE} + ${#LARGER} - 245760 + 5))": "5",
		`test "$DPL_FINISH_0$DPL_KEEPER" = ""`:          "0",
	} {
		g, _, complete := finished(t, time.Minute, large, script)
		x := read(t, complete)
		if x.End.FinishStatus != want || x.End.Status != 7 || x.Phase != group.PhaseEnded {
			t.Errorf("%s: got %+v, want %s", script, x.End, want)
		}
		proctest.MustBeReaped(t, g.Keeper().PID)
	}
}

// A finish command that takes too long is killed, with what it has started.
func TestFinishTimedOut(t *testing.T) {
	t.Parallel()
	g, _, complete := finished(t, 100*time.Millisecond, nil, "sleep 1000 & sleep 1001")
	if x := read(t, complete); x.End.FinishStatus != policy.FinishTimedOut {
		t.Errorf("got %+v", x.End)
	}
	proctest.MustBeReaped(t, g.Keeper().PID)
}

// A finish command that cannot be executed loses nothing of the end.
func TestFinishFailed(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "exit 7")
	s.Finish, s.FinishTimeout = []string{"/no/such"}, time.Minute
	g, _, complete := recordedStart(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	if x := read(t, complete); x.End.FinishStatus != policy.FinishFailed || x.End.Status != 7 {
		t.Errorf("got %+v", x.End)
	}
}

// Nothing finishes what has not begun.
func TestFinishNotBegun(t *testing.T) {
	t.Parallel()
	for _, s := range []Command{
		{Argv: []string{"/no/such"}},
		{Argv: []string{"true"}, Preflight: []string{"false"}, PreflightTimeout: time.Minute},
	} {
		c := command(t, s.Argv...)
		c.Preflight, c.PreflightTimeout = s.Preflight, s.PreflightTimeout
		c.Finish, c.FinishTimeout = []string{"true"}, time.Minute
		g, _, complete := recordedStart(t, c)
		g.Release()
		if x := read(t, complete); x.End.FinishStatus != "" {
			t.Errorf("%q: got %+v", s.Argv, x.End)
		}
	}

	c := command(t, "true")
	c.Finish, c.FinishTimeout = []string{"true"}, time.Minute
	g, _, _ := recordedStart(t, c)
	if err := g.Cancel(); err != nil {
		t.Fatal(err)
	}
	mustHaveRunNothing(t, c)
}

// A finish command leaves nothing that would run beside the next start, nor does a preflight beside
// the command.
func TestNothingIsLeftBeside(t *testing.T) {
	t.Parallel()
	const leaves = "sleep 1000 &"
	g, _, complete := finished(t, time.Minute, nil, leaves)
	read(t, complete)
	proctest.MustBeReaped(t, g.Keeper().PID) // it waits for all that is left

	s := command(t, "true")
	s.Preflight, s.PreflightTimeout = []string{"sh", "-c", leaves}, time.Minute
	g, _, complete = recordedStart(t, s)
	if err := g.Release(); err != ErrChecking {
		t.Fatal(err)
	}
	read(t, complete)
	proctest.MustBeReaped(t, g.Keeper().PID)
}

// If the keeper is killed, so is the finish command, and the record says that its end is unknown.
func TestFinishKeeperKilled(t *testing.T) {
	t.Parallel()
	g, reserved, complete := finished(t, time.Minute, nil, "echo begun; exec sleep 1000")
	poll.Until(t, "the finish command", func() bool {
		log, _ := os.ReadFile(g.start.Log)
		return len(log) > 0
	})

	process.SignalProcess(g.Keeper(), unix.SIGKILL)
	proctest.MustBeReaped(t, g.Keeper().PID)
	x := read(t, reserved)
	if x.Phase != group.PhaseEnded || x.End.Status != 7 || x.End.FinishStatus != policy.FinishUnknown {
		t.Errorf("got %+v", x)
	}
	if _, err := os.Stat(complete); err == nil {
		t.Error("the record is complete")
	}
	poll.Until(t, "the end of the finish command", func() bool {
		left, err := process.Survivors(g.Process(), g.start.ID, g.Keeper())
		return len(left) == 0 && err == nil
	})
}

// A keeper that is killed at any moment runs the finish command at most once, and never records a
// status that it did not have. With DPL_SOAK there are 1000.
func TestFinishKeeperKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	many := 40
	if os.Getenv("DPL_SOAK") != "" {
		many = 1000
	}

	told := make(map[string]int)
	for range many {
		g, reserved, complete := finished(t, time.Minute, nil, "echo begun; exit 5")
		killed := make(chan struct{})
		keeper, after := g.Keeper(), time.Duration(rand.Int64N(int64(12*time.Millisecond)))
		time.AfterFunc(after, func() {
			process.SignalProcess(keeper, unix.SIGKILL)
			close(killed)
		})
		<-killed
		proctest.MustBeReaped(t, keeper.PID)
		mustEnd(t, g.Process())

		path := reserved
		if _, err := os.Stat(complete); err == nil {
			path = complete
		}
		x := read(t, path)
		told[string(x.Phase)+" "+x.End.FinishStatus]++
		log, _ := os.ReadFile(g.start.Log)
		runs := strings.Count(string(log), "begun\n")
		switch x.End.FinishStatus {
		case "", policy.FinishUnknown:
			if path == complete || x.End.FinishStatus == "" && runs > 0 || runs > 1 {
				t.Fatalf("killed after %v, %s: %d runs, %+v", after, path, runs, x)
			}
		case "5":
			if runs != 1 || x.End.Status != 7 {
				t.Fatalf("killed after %v: %d runs, %+v", after, runs, x)
			}
		default:
			t.Fatalf("killed after %v: %+v", after, x)
		}
	}

	t.Logf("the records say: %v", told)
}
