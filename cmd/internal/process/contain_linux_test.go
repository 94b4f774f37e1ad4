package process

import (
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"

	"golang.org/x/sys/unix"
)

// The kernel kills a command when the thread that started it ends. The thread of a goroutine ends
// with it if it is locked to it.
func TestContainedOutlivesThreads(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	started, end := make(chan error), make(chan struct{})
	var runs sync.WaitGroup
	defer runs.Wait()
	defer close(end)
	runs.Go(func() {
		defer Contain(cmd)()
		started <- cmd.Start()
		<-end
		cmd.Process.Kill()
		cmd.Wait()
	})
	if err := <-started; err != nil {
		t.Fatal(err)
	}

	endThreads(t, 100)
	if Exited(cmd.Process.Pid, 0) {
		t.Error("it was killed with a thread")
	}
}

// endThreads lets n goroutines end, each with its thread.
func endThreads(t *testing.T, n int) {
	t.Helper()
	threads := make([]int, n)
	var begun sync.WaitGroup
	begun.Add(n)
	for i := range n {
		go func() {
			runtime.LockOSThread()
			threads[i] = unix.Gettid()
			begun.Done()
			begun.Wait() // so that no other gets this thread
		}()
	}

	begun.Wait()
	poll.Until(t, "the end of the threads", func() bool {
		left, err := Numbers("/proc/self/task")
		return err == nil && !slices.ContainsFunc(left, func(thread int) bool {
			return thread != unix.Getpid() && slices.Contains(threads, thread) // the first stays
		})
	})
}
