package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// stubborn is a lock that is never free.
type stubborn struct {
	Lock
	closed chan bool
}

func (s stubborn) TryLock() (bool, error) { return false, nil }
func (s stubborn) Wait() error            { return errDisk }
func (s stubborn) Unlock() error          { close(s.closed); return nil }

// If waiting for a lock fails, the lock is given up.
func TestWaitThatFails(t *testing.T) {
	t.Parallel()
	lock := stubborn{closed: make(chan bool)}
	if err := wait(lock, make(chan struct{})); err != errDisk {
		t.Errorf("got %v", err)
	}
	<-lock.closed
}

// A lock whose file cannot be examined is given up, because no one knows what it protects.
func TestLockThatIsGivenBackSaysNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := OS{}.Lock(path, 0o600, nil)
	must(t, err)
	must(t, lock.Unlock())
	must(t, os.Remove(path))
	if info, err := lock.Stat(); err == nil {
		t.Errorf("got %+v", info)
	}
}

var errDisk = errors.New("disk")

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func gone(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
	}
	return err != nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
