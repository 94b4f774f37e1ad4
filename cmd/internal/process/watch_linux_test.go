package process

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/leak"
	"github.com/dpl-project/dpl/testscripts/poll"

	"golang.org/x/sys/unix"
)

func watched(t *testing.T, pid int) *Watched {
	t.Helper()
	w, err := Watch(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func mustBeDone(t *testing.T, w *Watched) {
	t.Helper()
	select {
	case <-w.Done():
	case <-time.After(poll.Patience):
		t.Fatal("Done is still open")
	}
}

func mustNotBeDone(t *testing.T, w *Watched) {
	t.Helper()
	select {
	case <-w.Done():
		t.Fatal("Done is closed")
	default:
	}
}

// Done is closed at death, before the parent has waited; from then on there is nothing to signal.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "echo").MustBeReady(t)
	w, other := watched(t, c.Process.Pid), watched(t, c.Process.Pid)
	if err := w.Signal(syscall.SIGURG); err != nil { // which Go programs ignore
		t.Fatal(err)
	}

	c.MustEcho(t)
	mustNotBeDone(t, w)
	if err := w.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	mustBeDone(t, w)
	mustBeDone(t, other)
	if err := unix.Kill(c.Process.Pid, 0); err != nil {
		t.Fatalf("the zombie is not there: %v", err)
	}
	if err := w.Signal(syscall.SIGTERM); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Signal to a zombie: %v, want ErrNoProcess", err)
	}

	c.Wait()
	if err := w.Signal(syscall.SIGTERM); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Signal to nobody: %v, want ErrNoProcess", err)
	}
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended by %v", status.Signal())
	}
}

func TestWatchReturnsErrorsOfSignals(t *testing.T) {
	t.Parallel()
	w := watched(t, proctest.Start(t, "echo").MustBeReady(t).Process.Pid)
	if err := w.Signal(65); !errors.Is(err, unix.EINVAL) {
		t.Errorf("got %v, want EINVAL", err)
	}
}

func TestWatchClosed(t *testing.T) {
	t.Parallel()
	c := proctest.Start(t, "echo").MustBeReady(t)
	w, witness := watched(t, c.Process.Pid), watched(t, c.Process.Pid)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	mustNotBeDone(t, w)
	if err := w.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Signal: %v, want os.ErrClosed", err)
	}

	c.MustEcho(t)
	c.Die(t)
	mustBeDone(t, witness)
	mustNotBeDone(t, w)
}

// Not parallel: it counts what the whole test process holds.
func TestWatchReleases(t *testing.T) {
	pid := proctest.Start(t, "echo").MustBeReady(t).Process.Pid
	leak.None(t, 100, func() {
		w, err := Watch(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
