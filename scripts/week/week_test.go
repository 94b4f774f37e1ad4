//go:build linux

package week

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

const script = "../soak/week.sh"

var (
	leftOut = regexp.MustCompile(`(?m)^week: left out: (\w+): (.+)$`)
	see     = regexp.MustCompile(`(?m)^week: see (.+)/say$`) // after a failure
)

func TestMain(m *testing.M) { os.Exit(programs.Run(m, "ex", "jq", "mount", "rsync", "umount")) }

// run runs the script with the commands in bin, and this much to do, and returns what it says.
func run(t *testing.T, bin, size string, days ...string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	cmd := exec.CommandContext(ctx, "sh", append([]string{script, bin, "0"}, days...)...)
	cmd.Env = append(os.Environ(), "WEEK_SIZE="+size, "STRICT=", "TMPDIR="+os.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it has mounts
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestWeek runs a week in which each thing happens once. A day that this machine cannot have is
// reported as skipped.
func TestWeek(t *testing.T) {
	t.Parallel()
	said, err := run(t, build.Commands(t, "../.."), "1")
	if err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}

	t.Log(said)
	for _, m := range leftOut.FindAllStringSubmatch(said, -1) {
		t.Run(m[1], func(t *testing.T) { strict.Skip(t, m[2]) })
	}
}

// TestJudge has commands that lie. The week finds each lie.
func TestJudge(t *testing.T) {
	t.Parallel()
	bin, sound := t.TempDir(), build.Commands(t, "../..")
	out, err := exec.Command("cp", "-RP", sound+"/.", bin).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	lies := []struct{ command, to, does, want string }{
		{"enqueue", `q\ *`, "exit 0", "enqueued with 0, and neither done nor left: enqueue q:"},
		{"settle", `c\ *`, "exit 0", "and the record has nothing of it"},
		{"work", `s*`, "exit 0", "exited 0, and t1 was not done"},
		{"pop", "*", "exit 0", "and the operation has not completed"},
		{"cleanup", "*", "exit 2", "crashed or hung: cleanup"},
	}
	for _, lie := range lies {
		path := filepath.Join(bin, "dpl-"+lie.command)
		text := fmt.Sprintf("#!/bin/sh\ncase $* in %s) %s ;; esac\nexec \"${0%%-*}\" %s \"$@\"\n",
			lie.to, lie.does, lie.command)
		if err := errors.Join(os.Remove(path), proc.WriteProgram(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}

	said, err := run(t, bin, "2", "plain")
	if kept := see.FindStringSubmatch(said); kept != nil {
		os.RemoveAll(kept[1])
	}
	for _, lie := range lies {
		if err == nil || !strings.Contains(said, lie.want) {
			t.Errorf("%v; want %q:\n%s", err, lie.want, said)
		}
	}
}
