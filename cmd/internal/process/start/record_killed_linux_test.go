package start

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"golang.org/x/sys/unix"
)

// A keeper that is killed at any moment leaves the record whole, and the right status in it or
// none. With DPL_SOAK there are 1000.
func TestKeeperOfStartKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	many := 40
	if os.Getenv("DPL_SOAK") != "" {
		many = 1000
	}

	told := make(map[group.ExitPhase]int)
	for i := range many {
		status := 1 + i%100
		g, reserved, complete := recorded(t, "sh", "-c", "exit $0", strconv.Itoa(status))
		killed := make(chan struct{})
		keeper, after := g.Keeper(), time.Duration(rand.Int64N(int64(8*time.Millisecond)))
		time.AfterFunc(after, func() {
			process.SignalProcess(keeper, unix.SIGKILL)
			close(killed)
		})

		g.Release() // it may be killed before
		<-killed
		proctest.MustBeReaped(t, keeper.PID)
		mustEnd(t, g.Process())

		path := reserved
		if _, err := os.Stat(complete); err == nil {
			path = complete
		}
		x := read(t, path)
		told[x.Phase]++
		right := x.End.Reason == policy.Exited && x.End.Code == policy.CodeExited &&
			x.End.Status == status
		right = right || x.End.Reason == policy.StartFailed && x.End.Code == "" // it missed its keeper
		if (x.Phase == group.PhaseEnded) != right || path == complete && !right {
			t.Fatalf("killed after %v, %s: %+v, want status %d", after, path, x, status)
		}
	}

	t.Logf("the records say: %v", told)
}
