package notify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/testscripts/leak"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// watching returns a Notifier that does not poll, once another test leaves an inotify instance
// free.
func watching(t *testing.T, l *ledger, operations, groups []string) (n *Notifier) {
	t.Helper()
	poll.Until(t, "an inotify instance is free", func() bool {
		n = notify(t, l, operations, groups)
		return n.watcher != nil
	})
	mustWatch(t, n)
	return n
}

// unread returns an armed Notifier whose events no one reads. The kernel queues them before a
// change is done, so a test can examine them without waiting.
func unread(t *testing.T, l *ledger, operations, groups []string) *Notifier {
	t.Helper()
	var fd int
	poll.Until(t, "an inotify instance is free", func() bool {
		var err error
		fd, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		return err == nil
	})

	n := notify(t, l, operations, groups)
	must(t, n.watcher.close())
	n.watcher = &watcher{fd: fd, inotify: os.NewFile(uintptr(fd), "inotify"), tell: n.notify}
	mustWatch(t, n)

	return n
}

func mustWatch(t *testing.T, n *Notifier) {
	t.Helper()
	if n.Arm(); n.stop != nil {
		t.Fatal("it polls")
	}
}

// queued returns the events since it was called last, and whether one of them is about a file.
func queued(t *testing.T, n *Notifier) (bytes int, concerned bool) {
	t.Helper()
	buffer := make([]byte, 1<<20)
	bytes, err := unix.Read(n.watcher.fd, buffer)
	if err == unix.EAGAIN {
		return 0, false
	}
	must(t, err)
	return bytes, n.watcher.concerned(buffer[:bytes])
}

// A busy ledger causes no work while the files exist, and no report while one is missing.
func TestNotifyKeepsQuiet(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	busy := func() {
		for range 10 {
			revise(t, l, "op1")
			reviseGroup(t, l, "g1")
			expire(t, l, "op1")
			writeFile(t, l.operation("op1"), "{}")
			must(t, os.Chmod(l.operations(), 0o700))
			removeFile(t, l.operation("op1"))
			removeFile(t, l.registry("g1"))
		}
	}

	revise(t, l, "op")
	reviseGroup(t, l, "g")
	n := unread(t, l, []string{"op"}, []string{"g"})
	busy()
	_, err := os.ReadFile(l.operation("op"))
	must(t, err)
	if bytes, _ := queued(t, n); bytes > 0 {
		t.Errorf("%d bytes of events", bytes)
	}

	revise(t, l, "op")
	if _, concerned := queued(t, n); !concerned {
		t.Error("the edit was missed")
	}

	missing := unread(t, l, []string{"op", "new"}, []string{"g", "new"})
	busy()
	if bytes, concerned := queued(t, missing); bytes == 0 || concerned {
		t.Errorf("%d bytes of events, concerned: %v", bytes, concerned)
	}

	revise(t, l, "new")
	if _, concerned := queued(t, missing); !concerned {
		t.Error("the first push was missed")
	}

	reviseGroup(t, l, "new")
	if _, concerned := queued(t, missing); !concerned {
		t.Error("the new group was missed")
	}

	mustWatch(t, missing)
	queued(t, missing) // the end of the watches for what was missing
	busy()
	if bytes, _ := queued(t, missing); bytes > 0 {
		t.Errorf("%d bytes of events when nothing is missing any more", bytes)
	}
}

// Arm forgets a file that was replaced, even if it is still open or has another name.
func TestNotifyForgets(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	revise(t, l, "op")
	n := unread(t, l, []string{"op"}, nil)
	old := opened(t, l.operation("op"))
	must(t, os.Link(l.operation("op"), l.operation("other")))
	revise(t, l, "op")
	watches := len(n.watcher.watches)
	mustWatch(t, n)
	queued(t, n)
	_, err := old.WriteString("{}")
	must(t, err)
	removeFile(t, l.operation("other"))
	must(t, old.Close())
	if bytes, concerned := queued(t, n); bytes > 0 || concerned ||
		len(n.watcher.watches) != watches {
		t.Errorf("%d bytes of events, %d watches", bytes, len(n.watcher.watches))
	}
}

// A lost queue may have had anything in it.
func TestNotifyTellsOfOverflow(t *testing.T) {
	t.Parallel()
	w := &watcher{}
	overflow := binary.NativeEndian.AppendUint32(nil, 1<<32-1) // watch -1
	overflow = binary.NativeEndian.AppendUint32(overflow, unix.IN_Q_OVERFLOW)
	overflow = append(overflow, make([]byte, 8)...)
	if !w.concerned(overflow) {
		t.Error("it was not told")
	}
}

// Nothing tells of a write to memory but the end of it.
func TestNotifyOfMapping(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	revise(t, l, "op")
	n := unread(t, l, []string{"op"}, nil)
	f := opened(t, l.operation("op"))
	memory, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	memory[0] = '['
	must(t, unix.Munmap(memory))
	must(t, f.Close())
	if _, concerned := queued(t, n); !concerned {
		t.Error("it was missed")
	}
}

// A directory that is removed while it is in use, and created again, is not mistaken for the old
// one.
func TestNotifyOfDirectoryInUse(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	n := watching(t, l, []string{"op"}, nil)
	inside, err := os.Open(l.operations())
	must(t, err)
	defer inside.Close()

	removeFile(t, l.operations())
	mustTell(t, n)
	mustWatch(t, n)
	must(t, os.Mkdir(l.operations(), 0o700))
	mustTell(t, n)
	mustWatch(t, n)
	revise(t, l, "op")
	mustTell(t, n)
}

func TestNotifyThroughLinks(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	revise(t, l, "op")
	above := filepath.Dir(l.dir)
	first, second := filepath.Join(above, "first"), filepath.Join(above, "second")
	must(t, os.Symlink("second/../second", first))
	must(t, os.Symlink(l.dir, second))
	linked := &ledger{first, disk.OS{}}
	n := watching(t, linked, []string{"op", "new"}, []string{"g"})

	for _, change := range []func(){
		func() { revise(t, l, "op") },
		func() { revise(t, l, "new") },
		func() { reviseGroup(t, l, "g") },
		func() { must(t, os.Symlink("nowhere", first+".new")); moveFile(t, first+".new", first) },
		func() { must(t, os.Symlink("ledger", filepath.Join(above, "nowhere"))) },
		func() { revise(t, l, "op") },
		func() { removeFile(t, first); must(t, os.Symlink("first", first)) },
	} {
		mustWatch(t, n)
		change()
		mustTell(t, n)
	}

	if n.Arm(); n.stop == nil {
		t.Error("a link to itself is watched")
	}

	removeFile(t, first)
	mustTell(t, n)
}

// A file in the place of a directory is not looked into again and again.
func TestNotifyOfFileForDirectory(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	must(t, os.RemoveAll(l.dir))
	writeFile(t, l.dir, "")
	n := unread(t, l, []string{"op"}, []string{"g"})
	if bytes, _ := queued(t, n); bytes > 0 {
		t.Errorf("%d bytes of events", bytes)
	}

	removeFile(t, l.dir)
	if _, concerned := queued(t, n); !concerned {
		t.Error("its end was missed")
	}
}

// In a user namespace, which has a limit of its own, because other programs on this machine need
// their inotify instances.
func TestNotifyWithoutInstances(t *testing.T) {
	t.Parallel()
	const most, inside = "8", "DPL_TEST_FEW_INSTANCES"
	const limit, readOnly = "/proc/sys/user/max_inotify_instances", "/proc/sys is read-only, as " +
		"in a container"
	if os.Getenv(inside) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestNotifyWithoutInstances$", "-test.v")
		again.Env = append(os.Environ(), inside+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}

		output, err := again.CombinedOutput()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("no user namespace may be made here: %v", err)
		}
		if bytes.Contains(output, []byte(readOnly)) {
			t.Skip(readOnly)
		}
		if err != nil || !bytes.Contains(output, []byte("--- PASS: TestNotifyWithoutInstances")) {
			t.Errorf("in a user namespace: %v\n%s", err, output)
		}

		return
	}

	err := os.WriteFile(limit, []byte(most), 0)
	if errors.Is(err, syscall.EROFS) {
		t.Skip(readOnly)
	}

	must(t, err)
	l := testLedger(t, disk.OS{})
	revise(t, l, "op")
	var all []*Notifier
	polled := 0

	for range 12 {
		n := notify(t, l, []string{"op"}, nil)
		if all = append(all, n); n.watcher == nil {
			polled++
		}
		n.Arm()
	}

	if polled != 4 {
		t.Errorf("%d of 12 are polled, want 4", polled)
	}

	for range 3 {
		revise(t, l, "op")
		for _, n := range all {
			mustTell(t, n)
			n.Arm()
		}
	}
}

func TestNotifyWithoutReader(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	n := watching(t, l, []string{"op"}, nil)
	must(t, n.watcher.inotify.SetReadDeadline(time.Unix(1, 0)))
	mustTell(t, n)
	if n.Arm(); n.stop == nil {
		t.Error("nobody reads and nobody polls")
	}

	revise(t, l, "op")
	mustTell(t, n)
}

// The entries of a directory that appears between two looks are not watched; they are polled until
// the next Arm.
func TestNotifyOfDirectoryJustMade(t *testing.T) {
	t.Parallel()
	l := testLedger(t, disk.OS{})
	revise(t, l, "op")
	w := unread(t, l, []string{"op"}, nil).watcher
	must(t, w.await(l.operation("op"), fileEvents))
	must(t, w.await(l.operation("new"), fileEvents))
	must(t, w.await(l.operations()+".new", wayEvents))
	if w.await(l.operations(), wayEvents) == nil {
		t.Error("it is taken for watched")
	}
	if w.await(filepath.Join(l.operations()+".gone", "op.json"), fileEvents) == nil {
		t.Error("what is missing in a directory that is gone by now is taken for watched")
	}
}

// Not parallel: it makes all ledgers remote.
func TestNotifyPollsRemoteFiles(t *testing.T) {
	l := testLedger(t, disk.OS{})
	before := networkOf
	networkOf = func(string) (string, error) { return "test", nil }
	t.Cleanup(func() { networkOf = before })
	n := notify(t, l, []string{"op"}, nil)

	for range 2 { // of an operation that is missing, and of one that is not
		if n.Arm(); n.stop == nil {
			t.Error("it is not polled")
		}
		revise(t, l, "op")
		mustTell(t, n)
	}

	must(t, os.RemoveAll(l.dir))
	if n.Arm(); n.stop == nil {
		t.Error("it is not polled once it is gone")
	}
}

// Not parallel: it counts what the whole test process holds.
func TestNotifierReleases(t *testing.T) {
	for name, fs := range map[string]disk.FS{"told": disk.OS{}, "polled": polled{}} {
		t.Run(name, func(t *testing.T) {
			l := testLedger(t, fs)
			leak.None(t, 100, func() {
				n := l.notify([]string{"op"}, []string{"g"})
				n.Arm()
				n.Arm()
				must(t, n.Close())
			})
		})
	}
}
