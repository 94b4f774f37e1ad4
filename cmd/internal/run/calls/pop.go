package calls

import (
	"errors"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An Edit pops a call: it makes an edit of the operation id with the verb that it gets from verb,
// with the reason why nothing can be published, or nil.
type Edit func(l *fileops.Ledger, id string,
	verb func(why error) fileops.Verb[protocol.Operation]) (session.Edit, error)

// Pop pops the call of a command that has ended with e, by edit. fails says whether the end of the
// command fails the operation. prepare, unless it is nil, says what the pop does besides.
func (c *Call) Pop(e runner.End, fails bool, edit Edit, prepare func(why error, p *protocol.Pop)) (
	runner.Verdict, error) {
	pop := protocol.Pop{Call: c.Push.Call, Run: c.Run, Exit: e.Facts(), Reason: c.Reason(e),
		Fail: fails}
	var crashed *protocol.Frame
	made, err := edit(c.Ledger, c.Op, func(why error) fileops.Verb[protocol.Operation] {
		if prepare != nil {
			prepare(why, &pop)
		}
		return func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			crashed = nil
			if f := op.Frame(c.Push.Call); f != nil && !f.State.Live() {
				crashed = f
			}
			popped := pop
			if (popped.Reason == "" || e.Told && e.Stopped == 0) && c.wasStopped(e, op) {
				popped.Reason = "stopped: " + FailedBecause(op)
			}
			return op.Pop(popped, seen)
		}
	})

	for _, path := range c.Ledger.Kept() {
		c.Env.Warnf("%s: %s is kept: it was there before, as it is", c.Name(), path)
	}
	if Gone(err) && c.unsure {
		err = fileops.ErrCommitted // the first try has removed it
	}

	c.unsure = c.unsure || errors.Is(err, fileops.ErrUnknown)
	if Gone(err) {
		c.lose(err)
		return runner.Verdict{Status: cli.StatusOver, Reason: c.Explain(cli.StatusOver)}, nil
	}
	if err != nil {
		return runner.Verdict{}, cli.Named("pop", c.Op, c.Push.Call, err)
	}

	v := runner.Verdict{State: made.After.State}
	switch {
	case crashed != nil:
		v.Status, v.Reason = cli.StatusCrashed, c.declared(crashed)
	case wentWrong(made.After, pop):
		v.Status, v.Reason = cli.StatusCleanUp, FailedBecause(made.After)
	}
	return v, nil
}

// Fail records that the command has failed with e, before what it has left is stopped: that must
// not seem to be the cause. Its pop is still to come.
func (c *Call) Fail(e runner.End) error {
	c.edits.Lock()
	defer c.edits.Unlock()
	_, err := c.Env.Edit(c.Ledger, c.Op, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Fail(protocol.Failing{Call: c.Push.Call, Run: c.Run, Exit: e.Facts(),
				Reason: c.Reason(e)}, seen)
		})
	if Gone(err) {
		err = nil
	}
	return cli.Named("fail", c.Op, c.Push.Call, err)
}

// Reason returns why the call ends with e, in words, unless the end of the command says it.
func (c *Call) Reason(e runner.End) string {
	switch {
	case e.Told && e.Stopped == 0 && e.Failure == e.Words():
		return e.Failure + " (" + c.Env.Program + " got SIGTERM)"
	case e.Failure == "", e.Stopped == 0 && e.Failure == e.Words():
		return ""
	case e.Stopped != 0 && e.Stopped != cli.StatusTimeout:
		return "stopped: " + e.Failure
	}
	return e.Failure
}

// wasStopped reports whether TERM has ended the command although op had failed before, for another
// cause: what had called it was stopped, and all processes of that.
func (c *Call) wasStopped(e runner.End, op protocol.Operation) bool {
	t, left := op.LeftRunning()
	return e.Signal == syscall.SIGTERM && left && (t.Cause == nil || t.Cause.Call != c.Push.Call)
}

// wentWrong reports whether op, as pop left it, is neither running nor completed for any reason
// other than that pop.
func wentWrong(op protocol.Operation, pop protocol.Pop) bool {
	if op.State == protocol.Running || op.State == protocol.Completed {
		return false
	}
	t, left := op.LeftRunning()
	byPop := left && pop.Fail && t.Cause != nil && t.Cause.Call == pop.Call && t.Cause.Evidence == ""
	return !byPop
}
