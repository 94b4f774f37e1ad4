package attempt

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// unclaim gives the task back because of why, as if it had not been claimed (spec §35.8). If that
// fails, it keeps the claim and tries again: this process's end would be charged to the task.
func (a *attempt) unclaim(why error) {
	for failures := 1; !a.undone; failures++ {
		_, err := a.Env.EditQueue(a.Ledger, a.queue, fileops.Existing,
			func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Unclaim(a.task.ID, a.task.Claim.Epoch, seen)
			})
		over := errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNoTask) ||
			errors.Is(err, queue.ErrNoQueue) || errors.Is(err, fileops.ErrCommitted)
		if a.undone = err == nil || over; a.undone {
			return
		}

		pause := Pause(a.Env, failures)
		a.Env.Warnf("%s: %v: giving it back: %v: next try in %v", a.name(), why, err, pause)
		if runner.Asked(a.signals, nil, pause) != 0 {
			return
		}
	}
}

// longestPause is the longest pause after a failure of a worker.
const longestPause = time.Minute

// Pause returns how long a worker pauses after so many failures in a row. Where the clock stands
// still (--now), it is short.
func Pause(env *cli.Env, failures int) time.Duration {
	if env.Frozen() {
		return 10 * time.Millisecond
	}
	return min(time.Second<<min(failures-1, 10), longestPause)
}
