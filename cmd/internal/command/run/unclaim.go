package run

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// An unfit error says that the task itself is at fault, so that no worker can begin it.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// ofTask returns err as unfit, unless it says that the ledger, the host or the worker lacks
// something.
func ofTask(err error) error {
	if isLack(err) {
		return err
	}
	return unfit{err}
}

// isLack reports whether err says that the host lacks something for now: another process, another
// host, or this one later, would have succeeded.
func isLack(err error) bool {
	for _, lack := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN,
		syscall.EDQUOT, syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.ENXIO, syscall.ESTALE} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

// notPrepared settles the attempt if the task is at fault that it could not be prepared. It returns
// the error for the exit status.
func (a *attempt) notPrepared(err error) error {
	if _, is := errors.AsType[unfit](err); is {
		a.begun = true
		if settleErr := a.settle(queue.Outcome{End: queue.NotStarted, Reason: err.Error()}); settleErr != nil {
			a.env.Warnf("%v", settleErr)
		}
	}
	return fmt.Errorf("%s: task %s: %w", a.flags.Queue, a.task.ID, err)
}

// unclaim gives the task back because of why, as if it had not been claimed (spec §35.8). If that
// fails, it keeps the claim and tries again: this process's end would be charged to the task.
func (a *attempt) unclaim(why error) {
	for failures := 1; !a.undone; failures++ {
		_, err := a.env.EditQueue(a.ledger, string(a.flags.Queue), fileops.Existing,
			func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Unclaim(a.task.ID, a.task.Claim.Epoch, seen)
			})
		over := errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNoTask) ||
			errors.Is(err, queue.ErrNoQueue) || errors.Is(err, fileops.ErrCommitted)
		if a.undone = err == nil || over; a.undone {
			return
		}

		pause := a.flags.pause(failures)
		a.env.Warnf("%s: %v: giving it back: %v: next try in %v", a.name(), why, err, pause)
		if asked(a.signals, nil, pause) != nil {
			return
		}
	}
}

// longestPause is the longest pause after a failure of a worker.
const longestPause = time.Minute

// pause returns how long a worker pauses after so many failures in a row. Where the clock stands
// still (--now), it is short.
func (c *run) pause(failures int) time.Duration {
	if !c.Now.IsZero() {
		return 10 * time.Millisecond
	}
	return min(time.Second<<min(failures-1, 10), longestPause)
}
