//go:build linux

package faults

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// A step is a command at a moment.
type step struct {
	at      time.Duration // since the beginning of 2026
	argv    []string
	strikes bool  // no command: a kill of supervisor a
	first   *step // the same as what it does in an edit of its own, before all else
}

// at returns the step for a command line without quotes; $res stands for the directory of the
// resources, and $me for the process of the test.
func at(seconds int, line string) step {
	return step{at: time.Duration(seconds) * time.Second, argv: strings.Fields(line)}
}

func (s step) String() string { return strings.Join(s.argv, " ") }

// with returns s with more flags.
func (s step) with(flags ...string) step {
	s.argv = slices.Concat(s.argv[:1], flags, s.argv[1:])
	return s
}

// A commitMode is how a ledger commits.
type commitMode struct {
	name  string
	flags []string // of the command that makes the ledger
	every int      // except in a soak, a command is stopped at one in this many calls, and half as many fail
}

// modes are those that all rigs run in.
var modes = []commitMode{{name: "rename", every: 1},
	{name: "link", flags: []string{"--commit", "link"}, every: 3}}

// A world is a ledger with resources, in a directory of its own. Any number of trials begin in the
// same state.
type world struct {
	bin, base, template string
	mode                commitMode
	starts              bool // passes start processes

	each []step // after each reset

	question, shown string // the id and the hash of the question that is open
	owner           int    // the user who owns the ledger and runs the commands; 0: the user who runs the test
}

// newWorld makes a world in which these steps have been done.
func newWorld(t *testing.T, bin string, mode commitMode, setup ...step) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{bin: bin, base: filepath.Join(dir, "w"), template: filepath.Join(dir, "template"),
		mode: mode}
	w.build(t, setup)
	return w
}

func (w *world) build(t *testing.T, setup []step) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(w.base, "res"), 0o700); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { proc.EndAll(w.base) })
	for _, s := range setup {
		if got := w.run(s); got.status != 0 {
			t.Fatalf("%v: %v", s, got)
		}
	}

	w.keep(t)
}

// keep makes the present state the one that reset returns to.
func (w *world) keep(t *testing.T) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(w.template), copyTree(w.base, w.template)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) reset(t *testing.T) {
	t.Helper()
	poll.Until(t, "nobody writes there any more", func() bool {
		if w.starts {
			proc.EndAll(w.base) // except one in the middle of an execve, which shows no environment
		}
		return os.RemoveAll(w.base) == nil
	})

	err := copyTree(w.template, w.base)
	if err == nil && w.owner != 0 {
		err = filepath.WalkDir(w.base, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, w.owner, w.owner))
		})
	}

	if err != nil {
		t.Fatal(err)
	}

	for _, s := range w.each {
		if s.strikes {
			strike(t, w)
		} else if got := w.run(s); got.status != 0 {
			t.Fatalf("%v: %v", s, got)
		}
	}
}

// copyTree copies files, with their modes and times, and those that have several names as such.
func copyTree(from, to string) error {
	copied := make(map[uint64]string)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		target := to + strings.TrimPrefix(path, from)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return errors.Join(os.Mkdir(target, 0o700), os.Chmod(target, info.Mode()))
		}

		inode := info.Sys().(*syscall.Stat_t).Ino
		if first, ok := copied[inode]; ok {
			return os.Link(first, target)
		}

		copied[inode] = target
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		err = errors.Join(os.WriteFile(target, data, 0o600), os.Chmod(target, info.Mode()))

		return errors.Join(err, os.Chtimes(target, time.Time{}, info.ModTime()))
	})
}

func (w *world) ledger() string { return filepath.Join(w.base, "L") }

func (w *world) file(name string) string { return filepath.Join(w.ledger(), name) }

// makers are the commands that make a ledger, which flags say how.
var makers = []string{"dpl-push", "dpl-run", "dpl-register", "dpl-enqueue", "dpl-queue",
	"dpl-ask"}

// command returns s as a process that would be started by the program before, if there is one.
func (w *world) command(ctx context.Context, s step, before ...string) *exec.Cmd {
	if _, err := os.Stat(w.file("ledger.json")); err != nil && slices.Contains(makers, s.argv[0]) {
		s = s.with(w.mode.flags...)
	}

	argv := slices.Concat(before, s.argv)
	argv[len(before)] = filepath.Join(w.bin, s.argv[0])
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "$res", filepath.Join(w.base, "res"))
		argv[i] = strings.ReplaceAll(argv[i], "$me", strconv.Itoa(os.Getpid()))
		argv[i] = strings.ReplaceAll(argv[i], "$question", w.question)
		argv[i] = strings.ReplaceAll(argv[i], "$shown", w.shown)
	}

	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + w.base,
		"DPL_LEDGER=" + w.ledger()}
	if s.argv[0] != "dpl-ask" && s.argv[0] != "dpl-answer" { // which have the time of the clock
		cmd.Env = append(cmd.Env, "DPL_REPLAY=1", "DPL_NOW="+time.Date(2026, 1, 1, 0, 0, 0, 0,
			time.UTC).Add(s.at).Format(time.RFC3339))
	}

	if w.owner != 0 {
		id := uint32(w.owner)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}

	return cmd
}

// A result is what came of a process.
type result struct {
	status int // -1: killed by a signal; -2: it did not end
	stderr string
}

const (
	killed  = -1
	blocked = -2
)

// run runs s to its end.
func (w *world) run(s step) result {
	ctx, cancel := deadline()
	defer cancel()
	return runCommand(ctx, w.command(ctx, s))
}

// deadline ends what hangs.
func deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), poll.Patience)
}

func runCommand(ctx context.Context, cmd *exec.Cmd) result {
	var stderr bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	cmd.WaitDelay = time.Second // a process started by a pass may keep the pipe
	err := cmd.Run()
	status := cmd.ProcessState.ExitCode()

	switch {
	case ctx.Err() != nil:
		status = blocked
	case cmd.ProcessState == nil:
		return result{blocked, err.Error()}
	}

	return result{status, strings.TrimSpace(stderr.String())}
}
