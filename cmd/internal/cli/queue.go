package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/queue"
)

// The types of flags about queues. Each rejects invalid values, including "".
type (
	QueueID  string // the id of a queue
	TaskID   string // the id of a task
	Epoch    int64  // the number of a claim
	Priority int64  // of a task
)

// UnmarshalText sets id to text, or returns queue.ErrBadQueueID.
func (id *QueueID) UnmarshalText(text []byte) error {
	*id = QueueID(text)
	return queue.CheckID(string(text))
}

// UnmarshalText sets id to text, or returns queue.ErrBadTaskID.
func (id *TaskID) UnmarshalText(text []byte) error {
	*id = TaskID(text)
	return queue.CheckTaskID(string(text))
}

// UnmarshalText sets e to the number in text.
func (e *Epoch) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("want the number of a claim, not %q", text)
	}
	*e = Epoch(n)
	return nil
}

// UnmarshalText sets p to the number in text.
func (p *Priority) UnmarshalText(text []byte) error {
	least, most := queue.Priorities()
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("want a number from %d to %d, not %q", least, most, text)
	}
	*p = Priority(n)
	return nil
}

// Queued has the flags of commands that work on one queue.
type Queued struct {
	Common `embed:""`

	Queue QueueID `env:"DPL_QUEUE" placeholder:"QUEUE" required:""`
}

// Leading returns the flag whose value may be the first argument.
func (*Queued) Leading() string { return "queue" }

// Led returns args with its leading words, one of which may be -, turned into the flags that they
// stand for.
func Led(c Command, args []string) []string {
	flags, words := []string(nil), 0
	for flag := range strings.FieldsSeq(c.Leading()) {
		if words == len(args) || len(args[words]) > 1 && args[words][0] == '-' {
			break
		}
		flags = append(flags, "--"+flag+"="+args[words])
		words++
	}
	if words == 0 {
		return args
	}
	return append(flags, args[words:]...)
}

// CheckAttempt returns an error unless flags or the environment name an attempt.
func CheckAttempt(task TaskID, epoch Epoch) error {
	switch {
	case task == "":
		return Usagef("--task is required, or $DPL_TASK of an attempt of this queue")
	case epoch == 0:
		return Usagef("--epoch is required, or $DPL_EPOCH of an attempt of this queue")
	}
	return nil
}

// EditQueue applies verb to the queue id, or in a dry run prints the change.
func (env *Env) EditQueue(l *fileops.Ledger, id string, mode fileops.Mode,
	verb session.QueueVerb) (session.QueueEdit, error) {
	edit, err := env.Session.EditQueue(l, id, mode, verb)
	if err == nil && edit.Changed() && env.DryRun() && !env.JSON() {
		before := ""
		if edit.Before.Revision > 0 {
			before = edit.Before.Encode()
		}
		env.printDiff(layout.QueueName(id), before, edit.After.Encode())
	}
	return edit, err
}

// QueueResult returns the result of an edit of a queue that every command prints.
func QueueResult(e session.QueueEdit) Object {
	q := e.After
	return Object{{"queueId", q.ID}, {"state", q.State()}, {"revision", q.Revision},
		{"changed", e.Changed()}}
}

// InQueue returns err with the queue id before it.
func InQueue(id QueueID, err error) error {
	if err == nil || errors.Is(err, errSilent) {
		return err
	}
	return fmt.Errorf("%s: %w", id, err)
}
