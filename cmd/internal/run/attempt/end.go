package attempt

import (
	"errors"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
)

func (a *attempt) end(e runner.End) (runner.Verdict, error) {
	if a.log != "" {
		a.limitLog()
	}
	if e.Lacking != nil {
		a.unclaim(e.Lacking)
	}
	if !a.settled && !a.undone {
		if a.outcome == nil {
			e.Told = e.Told || a.toldToo(e)
			o := a.outcomeOf(e)
			a.outcome = &o
		}
		err := a.settle(*a.outcome)
		over := errors.Is(err, queue.ErrLost) || a.unsure && errors.Is(err, queue.ErrSettled)
		if err != nil && !over {
			a.unsure = a.unsure || errors.Is(err, fileops.ErrUnknown)
			return runner.Verdict{}, err
		}
		a.settled = true
	}

	passed := a.check.outcome == nil || a.check.outcome.End == queue.Done
	if e.Failure == "" && !passed {
		e.Failure = "the check has not passed: " + a.check.outcome.Reason
	}
	v, err := a.Pop(e, e.Failure != "", a.finish, nil)
	if !passed && err == nil && v.Status == 0 {
		v.Status, v.Reason = cli.StatusFalse, e.Failure
	}
	return v, err
}

// outcomeOf returns what e means for the task, if need be with what the check has found.
func (a *attempt) outcomeOf(e runner.End) queue.Outcome {
	o := outcome(e)
	switch {
	case o.End != queue.Done || a.check.outcome == nil || a.check.outcome.End == queue.Done:
		return o
	case e.Told:
		return queue.Outcome{End: queue.Released, Reason: a.check.outcome.Reason}
	}
	return *a.check.outcome
}

// toldToo reports whether a TERM that has ended the command comes to dpl-work as well. Who stops a
// service signals all of its processes, and the news of the command's end may come first.
func (a *attempt) toldToo(e runner.End) bool {
	if e.Stopped != 0 || e.Failure == "" || e.Exit() != 128+int(syscall.SIGTERM) {
		return false
	}

	for late := time.After(runner.LastWords); ; {
		select {
		case sig := <-a.signals:
			if sig == syscall.SIGTERM {
				return true
			}
		case <-late:
			return false
		}
	}
}

// finish pops the call. The operation of an attempt is over with it.
func (a *attempt) finish(l *fileops.Ledger, id string,
	verb func(why error) fileops.Verb[protocol.Operation]) (session.Edit, error) {
	return a.Env.FinishOperation(l, id, verb(nil))
}
