package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A rename by path looks up its directory twice. An attacker who swaps the directory for a link in
// between makes it put a file into another directory. A rename through a descriptor stays in its
// directory, so systems without such paths rename only by renameat(2).
func TestRenameInSwappedDirectory(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, link, victim := filepath.Join(base, "dir"), filepath.Join(base,
		"link"), filepath.Join(base, "victim")
	must(t, errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(victim, 0o700), os.Symlink(victim, link)))
	opened, err := unix.Open(dir, searchOnly|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(opened)

	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped }()

	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()

	// astray reports whether one of at most tries renames reaches the victim, and how many were
	// tried.
	astray := func(tries int, rename func() error) (bool, int) {
		deadline := time.Now().Add(time.Minute)
		for n := range tries {
			fd, err := unix.Openat(opened, "new", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
			must(t, err)
			must(t, unix.Close(fd))
			rename()
			if os.Remove(filepath.Join(victim, "file")) == nil {
				return true, n + 1
			}
			if time.Now().After(deadline) {
				return false, n + 1
			}
		}

		return false, tries
	}

	is, tries := astray(1<<40,
		func() error { return os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "file")) })
	if !is {
		t.Errorf("by path none of %d renames went astray: this test is too slow to tell", tries)
	}

	const through = 5000
	if is, n := astray(through,
		func() error { return replace(opened, "new", opened, "file") }); is {
		t.Errorf("rename %d of %d went astray through the descriptor", n, through)
	}
}
