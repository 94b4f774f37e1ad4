// Package attempt makes an attempt at a task of a queue: it claims the task, runs its command, has
// rules judge that, and settles the attempt.
package attempt

import (
	"os"
	"sync/atomic"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// onlyCall is the call of an attempt, the only one that a worker makes in its operation.
const onlyCall = "attempt"

// An attempt is the only call of an operation that is an attempt at a task (spec §35.5). It is
// settled before the call is popped: whoever sees that the call is over finds the end.
type attempt struct {
	*calls.Call
	queue   string
	task    *queue.Task
	flags   runner.Flags // with the limits of the task
	command []string
	signals chan os.Signal

	spec    queue.Content
	check   check
	log     string // path of its output
	output  *fileops.AttemptLog
	logMax  int64       // in bytes; 0: no limit
	endless atomic.Bool // its log cannot be limited, which was said

	outcome *queue.Outcome // what it is settled with, once that is known
	begun   bool           // its end is settled as that of the task, whatever it is
	settled bool
	undone  bool // its claim was taken back
	unsure  bool // a settling may be committed or not
}

func (a *attempt) name() string { return a.queue + ": task " + a.task.ID }

func (a *attempt) ids() cli.Object {
	return append(cli.Object{{"queueId", a.queue}, {"taskId", a.task.ID},
		{"epoch", a.task.Claim.Epoch}, {"unclaimed", a.undone}}, a.IDs()...)
}
