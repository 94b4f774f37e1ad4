package attempt

import (
	"fmt"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/checking"
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// settle settles the attempt.
func (a *attempt) settle(o queue.Outcome) error {
	s := queue.Settlement{Task: a.task.ID, Epoch: a.task.Claim.Epoch, Outcome: o}
	if o.End == queue.Rejected || o.End == queue.Uncertain ||
		o.End == queue.Done && a.check.text != "" && !a.reported() {
		s.Report = a.check.text
	}
	if o.End == queue.Uncertain {
		var err error
		s.Question, err = checking.AskPerson(a.Env, a.Ledger, a.queue, a.task, o.Reason)
		if err != nil {
			a.Env.Warnf("%s: it stays blocked until somebody sees it: %v", a.name(), err)
		}
	}
	_, err := a.Env.EditQueue(a.Ledger, a.queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Settle(s, seen) })
	if err != nil {
		return fmt.Errorf("%s: settle %q: %w", a.queue, a.task.ID, err)
	}
	return nil
}

// reported reports whether the worker has given a report of its own.
func (a *attempt) reported() bool {
	_, err := os.Stat(a.Ledger.AttemptReport(a.queue, a.task.ID, a.task.Claim.Epoch))
	return err == nil
}

// TempFail is the exit status by which a command asks to be tried again later: EX_TEMPFAIL.
const TempFail = 75

// outcome returns what e means for the task (spec §35.5).
func outcome(e runner.End) queue.Outcome {
	o := queue.Outcome{Status: int64(e.Exit()), Reason: e.Failure}
	switch {
	case e.Cause != "" && !e.Ran:
		o.End = queue.NotStarted
	case e.Silent:
		o.End, o.Reason = queue.Silent, e.Cause
	case e.Stopped == cli.StatusTimeout:
		o.End, o.Reason = queue.TimedOut, e.Cause
	case e.Stopped != 0:
		o.End = queue.Released // its operation was aborted, or its call declared crashed
	case e.Failure == "":
		o.End = queue.Done
	case e.Told:
		o.End = queue.Released
	case e.Code == TempFail && e.Signal == 0:
		o.End = queue.TempFail
	default:
		o.End = queue.Failed
	}
	return o
}
