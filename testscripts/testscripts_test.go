//go:build unix

// Package testscripts runs the dpl commands as a user would: each */*.txtar file here is a short
// script of command lines and of what must be true after them, in a folder that names the command
// or the subject. This file builds the commands and runs the scripts; the other files have the
// commands that only scripts have:
//
//	status N CMD [ARG...]       run CMD; it must exit with status N exactly
//	op ID STATE [CALL:STATE...] the file of operation ID is valid, in STATE, and its stack is these calls, root first
//	archived ID STATE           ID is in the archive, in STATE, and neither its file nor its lock is in operations/
//	field FILE PATH=WANT...     JSON members of FILE, which may be stdout or stderr, have these values; PATH is like
//	                            stack.0.state, with * for all elements (joined by spaces) and len for their number;
//	                            strings are compared as they are, other values as compact JSON; WANT absent: no member
//	eventually CMD [ARG...]     repeat CMD, one of the above or a program, until it succeeds; fail after 1m
//	fresh                       from here on another ledger, and none of the DPL_ variables that say what to do
//	now [D]                     set DPL_NOW to D, like 10.5s or 2h, after 2026-01-01T00:00:00Z; without D: unset it
//	freeze [PATH...]            remember all names, modes, times and contents below the ledger and PATHs
//	unchanged                   nothing has changed since freeze
//	tidy                        the ledger has no temporary file, trash, or lock without operation
//	lock FILE, unlock FILE      hold flock(2) on FILE, and release it
//	supervisor ID STATE [PATH=WANT...]
//	                            supervisor ID of $DPL_GROUP is in STATE, and its members are these, as with field
//	alerts [TYPE:ID[:MESSAGE]...]
//	                            the alerts file of $DPL_GROUP has these and no others, numbered from 1 without a gap
//	processes ID N              N processes live that were started as supervisor ID of $DPL_GROUP, or by such
//	pid NAME ID                 set $NAME to the process id that is registered for supervisor ID of $DPL_GROUP
//	strike ID SIGNAL            send SIGNAL to that process; if it is SIGKILL, wait until it has ended
//	spawn NAME CMD [ARG...]     start CMD in the background and set $NAME to its process id
//	asked NAME WORD [FLAG...]   wait until a question with WORD is open (dpl-answer FLAG...), and set $NAME to its id
//	signal NAME SIGNAL          send SIGNAL, like SIGKILL, to what spawn started
//	waitfor NAME STATUS[|...]  wait for it; STATUS is a number, or the signal that killed it; stdout and stderr are its
//	watch, watched N            read all operation files over and over; until watched, none was ever invalid or went back in
//	                            revision, and there were at least N looks
//	schemas KIND... [FILE...]   the JSON files of the ledger are of these kinds, and they and FILEs agree with their $schema
//	printed KIND FILE...        the JSON values in FILEs are valid for spec/output/KIND.schema.json
//	tmpfs DIR SIZE              mount a small file system at DIR; skip the script if that is not allowed
//	needs NAME...               skip the script, and say why, without linux, root, or a program of that name, which is in
//	                            $PATH from here on; with STRICT in the environment a missing program is a failure
//
// A script has the real commands first in $PATH, and else the programs of a bare Debian (package
// programs). It has a ledger of its own at $DPL_LEDGER, which the first push makes, $OPS and
// $ARCHIVE for the directories in it, $CONFORMANCE for the second implementation, DPL_REPLAY=1, and
// no other DPL_ variable. When it ends, however it does, whatever has one of its ledgers in the
// environment is killed. What a command prints with --json must be valid for its schema in
// spec/output (outputs_test.go).
package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
	"github.com/rogpeppe/go-internal/testscript"
)

// root is the module.
const root = ".."

func TestMain(m *testing.M) {
	syscall.Umask(0o022) // scripts copy files into ledgers
	proc.Unignore()
	status := programs.Run(m, "ar", "as", "cc", "cron", "crontab", "gcc", "jq", "ld", "mksh", "mount",
		"node", "ps", "python3", "ranlib", "ssh-keygen", "strace", "systemd-analyze", "umount", "zsh")
	os.RemoveAll(shared.bin)
	os.Exit(status)
}

// shared has the commands for all tests that need none of their own.
var shared struct {
	once sync.Once
	bin  string
	err  error
}

// built returns a directory with the commands. The first call creates it.
func built(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		if shared.bin, shared.err = os.MkdirTemp("", "dpl-testscripts"); shared.err == nil {
			shared.err = build.CommandsIn(shared.bin, root)
		}
	})

	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.bin
}

func TestScripts(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { checkShapes(t) })
	run(t, built(t), scripts(t, "*/*.txtar"))
}

// TestRaced runs scripts about concurrent processes with commands that detect data races.
func TestRaced(t *testing.T) {
	if os.Getenv("DPL_SOAK") == "" {
		t.Skip("needs DPL_SOAK=1")
	}
	strict.Program(t, "cc") // the race detector is written in C

	t.Parallel()
	raced := t.TempDir()
	if err := build.CommandsIn(raced, root, "-race"); err != nil {
		t.Fatal(err)
	}

	files := scripts(t, "concurrent/*.txtar", "heartbeat/every_*.txtar", "cleanup/handler_*.txtar",
		"run/*.txtar", "silence/*.txtar", "wait/*.txtar", "watch/*.txtar",
		"orchestrate/every*.txtar", "orchestrate/on_alert.txtar", "orchestrate/ten_passes.txtar",
		"orchestrate/end_to_end.txtar")

	// Commands with the race detector use the C library, which changes what happens to signals 32
	// and 33, and do not start in dpl_entry, which looks for closed descriptors.
	run(t, raced, slices.DeleteFunc(files, func(file string) bool {
		return file == filepath.Join("run", "ignored_signals.txtar") ||
			file == filepath.Join("run", "closed.txtar")
	}))
}

// scripts returns the scripts that match the patterns. Each pattern must match some.
func scripts(t *testing.T, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		match, err := filepath.Glob(pattern)
		if err != nil || len(match) == 0 {
			t.Fatalf("no scripts %s (%v)", pattern, err)
		}
		files = append(files, match...)
	}

	return files
}

// run runs the scripts, each as a subtest of its folder: TestScripts/push/again.
func run(t *testing.T, bin string, files []string) {
	folders := make(map[string][]string)
	for _, file := range files {
		folder := filepath.Dir(file)
		folders[folder] = append(folders[folder], file)
	}

	for folder, files := range folders {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			runFolder(t, bin, files)
		})
	}
}

func runFolder(t *testing.T, bin string, files []string) {
	conformance, err := filepath.Abs(filepath.Join(root, "spec", "conformance"))
	if err != nil {
		t.Fatal(err)
	}

	deadline, _ := t.Deadline()
	testscript.RunT(printing{t}, testscript.Params{
		Deadline:           deadline,
		Files:              files,
		Cmds:               commands(),
		Condition:          condition,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			os.Chmod(filepath.Dir(env.WorkDir), 0o711)
			ledger := filepath.Join(env.WorkDir, "ledger")
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("PATH", strings.Join([]string{bin, declaredIn(env.Getenv("TMPDIR")),
				programs.Bare(), home}, string(os.PathListSeparator)))
			env.Setenv("DPL_LEDGER", ledger)
			env.Setenv("DPL_REPLAY", "1")
			env.Setenv("OPS", filepath.Join(ledger, "operations"))
			env.Setenv("ARCHIVE", filepath.Join(ledger, "archive"))
			env.Setenv("HOME", home)
			env.Setenv("CONFORMANCE", conformance)
			env.Setenv("PYTHONDONTWRITEBYTECODE", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=1 exitcode=99")
			env.Values[stateKey{}] = newState(env)

			if err := os.Mkdir(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, "apart"), []byte(apart), 0o755)
		},
	})
}

// apart is a program that runs a command as a child of its own: so this process, which runs all the
// commands of a script, is not the one that has started it.
const apart = "#!/bin/sh\n\"$@\"; exit $?\n"

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "linux":
		return runtime.GOOS == "linux", nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
