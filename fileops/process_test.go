package fileops

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/programs"
)

// These tests start the test binary again, because locks are between processes and only a process
// can be killed.

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && strings.HasPrefix(os.Args[1], "child=") {
		if err := child(strings.TrimPrefix(os.Args[1], "child="), os.Args[2],
			os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}

	debug.SetGCPercent(400) // the simulations make much garbage and hold little: a fifth of their time went into collecting it
	os.Exit(programs.Run(m))
}

func child(what, dir string, args []string) error {
	l, err := Create(dir, Config{}, Options{LockTimeout: 30 * time.Second, Sync: disk.SyncNone})
	if err != nil {
		return err
	}

	switch what {
	case "add":
		n, err := strconv.Atoi(args[1])
		for i := 0; i < n && err == nil; i++ {
			edit := fmt.Sprint(args[0], ".", i)
			err = l.Edit("op", OrCreate, add(edit, true))
			if err == nil {
				fmt.Println(edit)
			}
		}
		return err
	case "archive":
		for range 200 {
			if err := l.Edit("op", Existing, archive); err != nil && !errors.Is(err, ErrNotFound) &&
				!errors.Is(err, ErrArchived) {
				return err
			}
		}
		return nil
	case "pass":
		n, err := strconv.Atoi(args[1])
		for i := 0; i < n && err == nil; i++ {
			name := fmt.Sprint(args[0], ".", i)
			if err = (&passing{name: name}).run(l); err == nil {
				fmt.Println(name)
			}
		}
		return err
	case "hold":
		return l.Edit("op", OrCreate, func(*byteTx) error {
			fmt.Println("held")
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		})
	}

	return fmt.Errorf("no such child: %q", what)
}

func childCommand(what, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"child=" + what, dir}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// testLedger creates a ledger in a new directory.
func testLedger(t *testing.T, c Config, o Options) *Ledger {
	t.Helper()
	l, err := Create(filepath.Join(t.TempDir(), "ledger"), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// everyEdit returns the edits in all copies of the operation op.
func everyEdit(t *testing.T, l *Ledger) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(l.Dir(), "*", "op*.json"))
	if err != nil {
		t.Fatal(err)
	}

	var all []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		edits, err := decodeEdits(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}

		all = append(all, edits...)
	}

	slices.Sort(all)
	return all
}

// runAll runs the commands at once and returns the lines they printed, sorted. Each may be killed.
func runAll(t *testing.T, cmds []*exec.Cmd, mayDie bool) []string {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	var all sync.WaitGroup

	for _, cmd := range cmds {
		all.Go(func() {
			out, err := cmd.Output()
			if err != nil && !mayDie {
				t.Errorf("%v: %v", cmd.Args[1:], err)
			}

			mu.Lock()
			defer mu.Unlock()

			for line := range strings.Lines(string(out)) {
				if strings.HasSuffix(line, "\n") {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
		})
	}

	all.Wait()
	slices.Sort(lines)

	return lines
}

func TestManyProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	var cmds []*exec.Cmd
	for i := range 64 {
		cmds = append(cmds, childCommand("add", l.Dir(), fmt.Sprint("p", i), "25"))
	}

	acked := runAll(t, cmds, false)
	if got := everyEdit(t, l); !slices.Equal(got, acked) || len(got) != 64*25 {
		t.Errorf("%d edits of %d, %d acknowledged", len(got), 64*25, len(acked))
	}
	if left := filesIn(t, l.OperationsDir()); !slices.Equal(left,
		[]string{"op.json", "op.json.lock"}) {
		t.Errorf("left: %v", left)
	}
}

func TestProcessesCreateTheLedgerAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "ledger")
	var cmds []*exec.Cmd
	for i := range 24 {
		cmds = append(cmds, childCommand("add", dir, fmt.Sprint("p", i), "1"))
	}

	runAll(t, cmds, false)
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := everyEdit(t, l); len(got) != 24 {
		t.Errorf("%d edits of 24: %v", len(got), got)
	}
}

// Writers and archivers race for one operation: the lock file appears and disappears while others
// wait for it.
func TestArchivingLosesNoEdit(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{LockTimeout: 30 * time.Second})
	var cmds []*exec.Cmd

	for i := range 8 {
		cmds = append(cmds, childCommand("add", l.Dir(), fmt.Sprint("p", i), "60"))
		if i%2 == 0 {
			cmds = append(cmds, childCommand("archive", l.Dir()))
		}
	}

	acked := runAll(t, cmds, false)
	if got := everyEdit(t, l); !slices.Equal(got, acked) || len(got) != 8*60 {
		t.Errorf("%d edits of %d, %d acknowledged", len(got), 8*60, len(acked))
	}
	if copies := filesIn(t, l.ArchiveDir()); len(copies) < 2 {
		t.Errorf("hardly anything was archived: %v", copies)
	}
	if err := l.Edit("op", OrCreate, archive); err != nil {
		t.Fatal(err)
	}
	if left := filesIn(t, l.OperationsDir()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestKilledWritersTearNothing(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{LockTimeout: 10 * time.Second})
	var acked []string

	for round := range 40 {
		cmd := childCommand("add", l.Dir(), fmt.Sprint("p", round), "1000000")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			acked = append(acked, lines.Text())
			if n == round%7 {
				cmd.Process.Kill()
			}
		}

		cmd.Wait()
	}

	got := everyEdit(t, l)
	for _, edit := range acked {
		if _, found := slices.BinarySearch(got, edit); !found {
			t.Errorf("%s was acknowledged and is lost", edit)
		}
	}

	if len(got) > len(acked)+40 {
		t.Errorf("%d edits, but %d were acknowledged", len(got), len(acked))
	}
	if err := l.Sweep(); err != nil {
		t.Error(err)
	}
	if left := filesIn(t, l.OperationsDir()); !slices.Equal(left,
		[]string{"op.json", "op.json.lock"}) {
		t.Errorf("left: %v", left)
	}
}

// hold starts a process that holds the lock of op until release is called.
func hold(t *testing.T, dir string) (release func()) {
	t.Helper()
	cmd := childCommand("hold", dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}

	release = sync.OnceFunc(func() {
		stdin.Close()
		cmd.Wait()
	})

	t.Cleanup(release)

	return release
}

func TestBusyLockChangesNothing(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{LockTimeout: 50 * time.Millisecond})
	if err := l.Edit("op", OrCreate, add("a", false)); err != nil {
		t.Fatal(err)
	}

	release := hold(t, l.Dir())
	before := snapshot(t, l.Dir())
	never := func(*byteTx) error { t.Error("change was called without the lock"); return nil }

	for _, mode := range []Mode{Existing, OrCreate, Existing | Try} {
		if err := l.Edit("op", mode, never); !errors.Is(err, ErrBusy) {
			t.Errorf("mode %d: %v", mode, err)
		}
	}

	if after := snapshot(t, l.Dir()); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}

	// A process that gave up waiting must not have the lock when it is finally free.
	release()
	poll.Until(t, "the lock is free",
		func() bool { return l.Edit("op", Existing|Try, add("b", false)) == nil })
	if got := everyEdit(t, l); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

// Someone replaces the lock file while one process holds it and another waits: a lock on the old
// file is worth nothing.
func TestReplacedLockFileIsNoticed(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("only /proc/locks tells who waits for a lock: ", err)
	}

	l := testLedger(t, Config{}, Options{LockTimeout: poll.Patience})
	if err := l.Edit("op", OrCreate, add("a", false)); err != nil {
		t.Fatal(err)
	}

	release := hold(t, l.Dir())
	done := make(chan error)
	entered := make(chan struct{})
	go func() {
		done <- l.Edit("op", Existing,
			func(tx *byteTx) error { close(entered); return add("b", false)(tx) })
	}()

	poll.Until(t, "somebody waits for the lock",
		func() bool { return waitsForLock(l.OperationLock("op")) })
	if err := os.Remove(l.OperationLock("op")); err != nil {
		t.Fatal(err)
	}

	release2 := holdFile(t, l.OperationLock("op"))
	release()

	// The waiter has the old lock now, sees that it is the wrong one, and waits for the new one.
	poll.Until(t, "somebody waits for the lock",
		func() bool { return waitsForLock(l.OperationLock("op")) })

	select {
	case <-entered:
		t.Error("it went ahead with the lock on a removed file")
	default:
	}

	release2()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// holdFile locks a new file in this process.
func holdFile(t *testing.T, path string) (release func()) {
	t.Helper()
	lock, err := disk.OS{}.Lock(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() { lock.Unlock() }
}

// waitsForLock reports whether a process waits in the kernel for a lock on path.
func waitsForLock(path string) bool {
	info, err := disk.OS{}.Lstat(path)
	if err != nil {
		return false
	}

	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}

	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "->") && strings.Contains(line,
			fmt.Sprintf(":%d ", info.ID.Inode)) {
			return true
		}
	}

	return false
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := disk.OS{}.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// snapshot describes every file below dir except symbolic links and temporary files, which belong
// to edits in progress.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type() == os.ModeSymlink ||
			strings.Contains(path, ".tmp~") {
			return err
		}

		info, err := disk.OS{}.Lstat(path)
		if err != nil {
			return err
		}

		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %v %v %q\n", path, info.ID, info.ModTime, data)
		return err
	})

	if err != nil {
		t.Fatal(err)
	}

	return all.String()
}
