package session

import (
	"os"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/protocol"
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
				if seen.Look(protocol.Process{PID: 1 << 30, StartTicks: ticks}) != protocol.Gone {
					t.Error("nobody has this number, and it has not exited")
				}
			}

			if seen.Look(protocol.Process{PID: os.Getpid()}) == protocol.Gone {
				t.Error("this process has exited")
			}
		})
	}

	group.Wait()
}
