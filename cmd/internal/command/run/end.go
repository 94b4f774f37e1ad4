package run

import (
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// end pops the call of a command that has ended with e, and publishes its results.
func (c *call) end(e runner.End) (runner.Verdict, error) {
	results := &c.flags.results
	var publish []observe.Publication
	if e.Failure == "" {
		publish = results.get(c.Ledger, c.Tmp(), e.Told)
	}

	v, err := c.Pop(e, c.fails(e), c.Env.EndCall, func(why error, pop *protocol.Pop) {
		results.fail(why)
		pop.Publish = publish
		if results.failed != nil {
			pop.Publish, pop.Fail = nil, c.fails(runner.End{Failure: results.failed.Error()})
			pop.Reason = results.failed.Error()
		}
		pop.DeleteResources = (e.Failure != "" || e.Told || results.failed != nil) &&
			!c.flags.KeepResources
	})
	if err == nil && v.Status == 0 && results.failed != nil {
		v.Status, v.Reason = cli.StatusOwn, results.failed.Error()
	}
	return v, err
}

// fail records that the command has failed with e, before what it has left is stopped.
func (c *call) fail(e runner.End) error {
	if !c.fails(e) {
		return nil
	}
	return c.Fail(e)
}

// fails reports whether the end e of the command fails the operation. With --caller-decides the
// caller judges a failure, unless a signal that was meant to end the work has killed the command or
// its last process, which a shell reports as 128+N (spec §15.9).
func (c *call) fails(e runner.End) bool {
	switch {
	case e.Failure == "" || c.Push.Contained:
		return false
	case !c.judged:
		return true
	case e.Stopped != 0:
		return false // by dpl-run itself, such as for a time limit
	}

	switch syscall.Signal(e.Exit() - 128) {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL, syscall.SIGTERM:
		return true
	}
	return false
}
