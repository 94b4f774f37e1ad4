// Package calls keeps the record of a call whose command a runner runs: it sends the heartbeats of
// the call, finds out that it must end, and pops it.
package calls

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// A Call is a call that this process makes.
type Call struct {
	Env    *cli.Env
	Ledger *fileops.Ledger
	Op     string // the operation
	Push   protocol.Push
	Run    string // of the operation, once the call has begun

	seen   protocol.Operation // the operation as last read, usually by an edit
	period time.Duration      // between two heartbeats, according to the last edit
	heard  protocol.Operation // the operation as last read by Excuse
	awake  atomic.Int64       // the revision in which it was idle before the last output
	edits  sync.Mutex         // held during an edit
	why    error              // of StatusOver; nil: the call or its operation has ended
	unsure bool               // a pop failed in a way that others may see it anyway
}

// mostInterval is the longest time between two looks at an operation.
const mostInterval = 1500 * time.Millisecond

// Begun takes note of after, the operation after the push, and returns the variables that tell the
// command about its call, and the time between two looks at the operation.
func (c *Call) Begun(after protocol.Operation) (variables []string, interval time.Duration) {
	c.Run, c.seen = after.RunID, after
	seen, _ := c.Ledger.ObserveOperation(after, c.Env.Observer()())
	c.period = after.Pace(c.Push.Call, seen)
	variables = []string{
		"DPL_LEDGER=" + c.Ledger.Dir(), "DPL_OP=" + c.Op, "DPL_RUN=" + c.Run,
		"DPL_CALL=" + c.Push.Call, "DPL_PARTICIPANT=" + c.Push.Participant,
		"DPL_TMP=" + c.Tmp(),
	}
	if traceparent := after.PassesOn(c.Push.Call); traceparent != "" {
		variables = append(variables, "TRACEPARENT="+traceparent)
	}
	return variables, min(after.HeartbeatInterval, mostInterval)
}

// Name is the name of the call in messages.
func (c *Call) Name() string { return c.Op + ": " + c.Push.Call }

// Tmp is the temporary directory of the call, once it has begun.
func (c *Call) Tmp() string { return c.Ledger.TmpDir(c.Op, c.Run, c.Push.Call) }

// IDs returns the members that identify the call in a --status-fd line.
func (c *Call) IDs() cli.Object {
	return cli.Object{{"operationId", c.Op}, {"callId", c.Push.Call}}
}
