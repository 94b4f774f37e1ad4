package start

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// These tests have a script for systemd-run(1), in a PATH of their own, so they are not parallel:
// where tests run there is rarely a systemd. The soak shows that systemd itself does what the
// script does.

// fakeSystemdRun makes systemd-run the script, and returns the file for its arguments.
func fakeSystemdRun(t *testing.T, script string) string {
	t.Helper()
	dir := writeSystemdRun(t, script)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return filepath.Join(dir, "args")
}

// writeSystemdRun returns a directory with the script as systemd-run.
func writeSystemdRun(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	script = `#!/bin/bash
printf '%s\n' "$@" >` + dir + `/args
while [[ $1 != -- ]]; do [[ $1 == --unit=* ]] && unit=$1; shift; done; shift
` + script

	if err := proc.WriteProgram(filepath.Join(dir, "systemd-run"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSpawnUnit(t *testing.T) {
	self, err := os.Executable() // a name that stays, also if this process is killed before systemd uses it
	if err != nil {
		t.Fatal(err)
	}

	for _, how := range []string{
		"setsid -f \"$@\" </dev/null >/dev/null 2>&1",
		"(exec \"$@\" </dev/null >/dev/null 2>&1) &",            // no session of its own
		"(sleep 0.1; exec \"$@\" </dev/null >/dev/null 2>&1) &", // later than systemd-run
		"setsid -f \"$@\" </dev/null >/dev/null 2>&1; sleep 15", // which goes on
	} {
		args := fakeSystemdRun(t, how)
		s := command(t, "sleep", "1000")
		g, err := SpawnUnit(s, Unit{Name: "dpl-main-db-1.service", User: true,
			StopTimeout: 1500 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}

		killAtEnd(t, g.Process())
		p := g.Process()
		if want := identify(t, p.PID); p != want || !p.Known() {
			t.Errorf("Process = %+v, want %+v", p, want)
		}

		mustHaveRunNothing(t, s)
		if err := g.Release(); err != nil {
			t.Fatal(err)
		}
		if got := identify(t, p.PID); got != p {
			t.Errorf("the command is %+v, the stage was %+v", got, p)
		}
		if got, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) +
			"/cmdline"); string(got) != "sleep\x001000\x00" {
			t.Errorf("it runs %q, %v", got, err)
		}

		mustLead(t, p.PID)
		mustHaveDescriptors(t, p.PID, s)
		content, err := os.ReadFile(args)
		if strings.Contains(string(content), "/proc/") {
			t.Errorf("a program by a number that may be another's soon: %q", content)
		}

		for _, want := range []string{"--user", "--collect", "--quiet",
			"--unit=dpl-main-db-1.service", "--property=TimeoutStopSec=1500ms", self} {
			if !strings.Contains(string(content), want+"\n") {
				t.Errorf("no %s: %q, %v", want, content, err)
			}
		}
	}
}

// The main process of a unit is a keeper: it records how the command ends, and runs its finish
// command.
func TestUnitRecordsEnd(t *testing.T) {
	fakeSystemdRun(t, `INVOCATION_ID=0123 setsid -f "$@" </dev/null >/dev/null 2>&1`)
	s := command(t, "sh", "-c", "echo $INVOCATION_ID; exit 3")
	s.Env = append(s.Env, "INVOCATION_ID=of-the-pass", "PATH="+os.Getenv("PATH"))
	s.Finish, s.FinishTimeout = []string{"sh", "-c", "exit 4"}, patience

	g, _, complete := recordedBy(t, s, func(t *testing.T, s Command) *Gate {
		g, err := SpawnUnit(s, Unit{Name: "dpl-main-db-1.service"})
		if err != nil {
			t.Fatal(err)
		}
		killAtEnd(t, g.Process())
		return g
	})

	keeper := g.Keeper()
	if want := identify(t, keeper.PID); keeper != want || !keeper.Known() {
		t.Errorf("Keeper = %+v, want %+v", keeper, want)
	}
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}

	x := read(t, complete)
	if x.Phase != group.PhaseEnded || x.End.Code != policy.CodeExited || x.End.Status != 3 ||
		x.End.FinishStatus != "4" || x.End.OOMKilled {
		t.Errorf("record %+v", x)
	}
	if said, err := os.ReadFile(s.Log); string(said) != "0123\n" {
		t.Errorf("INVOCATION_ID %q, %v", said, err)
	}
	mustEnd(t, keeper)
}

// A pass that dies before it has told the keeper of a unit everything starts nothing.
func TestUnitOfDeadPass(t *testing.T) {
	listener, address, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := exec.Command(self, unitFlag, address)
	if err := unit.Start(); err != nil {
		t.Fatal(err)
	}
	conn, _, err := accept(listener)
	if err != nil {
		t.Fatal(err)
	}
	argv, _ := command(t, "sleep", "1000").keeping()
	conn.Write(appendList(nil, argv))
	conn.Close()
	if err := unit.Wait(); err == nil {
		t.Error("it has ended with status 0")
	}
}

func TestOOMKills(t *testing.T) {
	t.Parallel()
	for events, want := range map[string]bool{
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 1\noom_group_kill 0\n": true,
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 0\noom_group_kill 0\n": false,
		"oom 1\n": false,
		"":        false,
	} {
		if got := oomKills(events); got != want {
			t.Errorf("%q: %t", events, got)
		}
	}
}

func TestSpawnUnitCancel(t *testing.T) {
	args := fakeSystemdRun(t, "setsid -f \"$@\" </dev/null >/dev/null 2>&1")
	s := command(t, "echo")
	g, err := SpawnUnit(s, Unit{Name: "dpl-main-db-1.service"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Cancel(); err != nil {
		t.Error(err)
	}

	mustEnd(t, g.Process())
	mustHaveRunNothing(t, s)
	if content, err := os.ReadFile(args); strings.Contains(string(content), "--user") {
		t.Errorf("arguments %q, %v", content, err)
	}
}

func TestSpawnUnitFails(t *testing.T) {
	t.Run("systemd refuses", func(t *testing.T) {
		fakeSystemdRun(t, "echo 'Failed to start: Unit exists.' >&2; exit 1")
		begin := time.Now()
		mustNotSpawn(t, "dpl-main-db-1.service",
			"systemd-run: exit status 1: Failed to start: Unit exists.")
		if took := time.Since(begin); took > patience/2 {
			t.Errorf("it took %v", took)
		}
	})

	t.Run("no systemd-run", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		mustNotSpawn(t, "dpl-main-db-1.service",
			`exec: "systemd-run": executable file not found in $PATH`)
	})
}

func mustNotSpawn(t *testing.T, unit, want string) {
	t.Helper()
	s := command(t, "echo")
	g, err := SpawnUnit(s, Unit{Name: unit, User: true})
	if g != nil || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, %v, want %s", g, err, want)
	}
	mustHaveRunNothing(t, s)
}

// The first to connect is not the stage if another user runs it.
func TestAcceptsOurOwnOnly(t *testing.T) {
	t.Parallel()
	nobody := proctest.AsNobody(t)
	listener, address, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	proctest.StartAs(t, nobody, "connect", address).MustBeReady(t)
	own := proctest.Start(t, "connect", address).MustBeReady(t)
	conn, pid, err := accept(listener)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	if pid != own.Process.Pid || hungUp(conn) {
		t.Errorf("accepted %d, hung up: %t; want %d", pid, hungUp(conn), own.Process.Pid)
	}

	own.Die(t)
	if !hungUp(conn) {
		t.Error("it has not hung up")
	}

	listener.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, pid, err := accept(listener); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("accepted %d, %v", pid, err)
	}
}

// Once the pass is gone, another user may listen at the address that a stage was given.
func TestDialsOurOwnOnly(t *testing.T) {
	t.Parallel()
	nobody := proctest.AsNobody(t)
	listener, address, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()

	if got := proctest.StartAs(t, nobody, "dial", address).First; got != errNotOurs.Error() {
		t.Errorf("another user's stage: %s, want %v", got, errNotOurs)
	}

	proctest.Start(t, "dial", address).MustBeReady(t)
}
