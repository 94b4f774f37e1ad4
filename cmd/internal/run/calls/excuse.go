package calls

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Excuse returns why the command may be silent. It is called beside the other methods.
func (c *Call) Excuse() runner.Excuse {
	revision, _, err := c.Ledger.Glance(c.Op)
	if err == nil && (revision == 0 || revision != c.heard.Revision) {
		c.heard, _, err = c.Ledger.ReadOperation(c.Op)
	}
	if err != nil {
		return runner.Excuse{Unknown: true}
	}

	e := runner.Excuse{Asking: c.questionOpen()}
	if isIdle(c.heard, c.Push.Call) {
		e.Idle = c.heard.Revision
	}
	return e
}

// questionOpen reports whether a question of the operation waits for its answer (spec §47). One
// that has expired, or that nobody asks any more, does not, even before somebody notes that. A
// queue that cannot be read has no question that could be answered.
func (c *Call) questionOpen() bool {
	ids, _ := c.Ledger.QueueIDs()
	for _, id := range ids {
		if !queue.IsAskQueue(id) {
			continue
		}
		q, err := c.Ledger.ReadQueue(id)
		if err == nil {
			q, err = q.Pass(c.Ledger.ObserveQueue(q, c.Env.Observer()()))
		}
		if err == nil && slices.ContainsFunc(q.Tasks, c.asks) {
			return true
		}
	}
	return false
}

// asks reports whether t is an open question of the operation.
func (c *Call) asks(t *queue.Task) bool {
	return t.State == queue.Open && slices.ContainsFunc(t.Ask.Askers,
		func(a queue.Asker) bool { return a.Operation == c.Op })
}

func isIdle(op protocol.Operation, call string) bool {
	f := op.Frame(call)
	return f != nil && f.Said().Readiness == observe.ReadinessIdle
}

// Spoke says that there was output since the call was found idle in the file of that revision.
func (c *Call) Spoke(revision int64) { c.awake.Store(revision) }

// Report returns say, with the news that the call is ready again, if there was output since it was
// last said to be idle.
func (c *Call) Report(op protocol.Operation, say observe.Report) observe.Report {
	ours := func(e observe.Event) bool {
		return e.Type == observe.CallReadiness && e.CallID == c.Push.Call
	}
	over := runner.IdleIsOver(op.Events, ours, c.awake.Load())
	if over && isIdle(op, c.Push.Call) && say.Readiness == "" {
		say.Readiness = observe.ReadinessReady
	}
	return say
}
