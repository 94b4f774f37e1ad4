package session

import (
	"os"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A pass looks at many operations at once with one clock (run with -race).
func TestClockForSeveral(t *testing.T) {
	t.Parallel()
	clock := New(Options{}).Observer()
	var group sync.WaitGroup

	for range 4 {
		group.Go(func() {
			seen := clock()
			for ticks := range int64(100) {
				if seen.Look(observe.Process{PID: 1 << 30, StartTicks: ticks}) != observe.Gone {
					t.Error("nobody has this number, and it has not exited")
				}
			}

			if seen.Look(observe.Process{PID: os.Getpid()}) == observe.Gone {
				t.Error("this process has exited")
			}
		})
	}

	group.Wait()
}
