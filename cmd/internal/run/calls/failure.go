package calls

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// FailedBecause returns the state of op, which is no longer running, and the reason.
func FailedBecause(op protocol.Operation) string {
	t, left := op.LeftRunning()
	switch {
	case !left:
		return fmt.Sprintf("operation %s is in state %s", op.ID, op.State)
	case t.To == protocol.Aborted:
		return fmt.Sprintf("operation %s was aborted: %s", op.ID, explain.Why(t))
	}
	return fmt.Sprintf("operation %s failed: %s", op.ID, explain.Why(t))
}

// declared says that the call was declared crashed. If f, its frame, has crash members, it names
// the actor and the evidence. f may be nil.
func (c *Call) declared(f *protocol.Frame) string {
	said := fmt.Sprintf("%s: call %s was declared crashed", c.Op, c.Push.Call)
	if f == nil || f.Crash == nil {
		return said
	}
	return fmt.Sprintf("%s by %s: %s", said, f.Crash.DetectedBy, f.Crash.Evidence)
}

// Gone reports whether err means that the call no longer exists.
func Gone(err error) bool {
	return errors.Is(err, protocol.ErrNoCall) || errors.Is(err, protocol.ErrOver) ||
		errors.Is(err, fileops.ErrArchived) || errors.Is(err, fileops.ErrNotFound)
}

// lose remembers that the call is gone because its ledger is.
func (c *Call) lose(err error) {
	if errors.Is(err, fileops.ErrNoLedger) {
		c.why = err
	}
}

// A notBegun says in words for people why a call was refused.
type notBegun struct {
	said string
	err  error
}

func (e notBegun) Error() string { return e.said }
func (e notBegun) Unwrap() error { return e.err }

// TooLate returns err, for which the call was refused, with the exit status for a call whose
// operation is no longer running. Nothing is printed if told, unless it is nil, says that another
// process prints why the operation failed.
func (c *Call) TooLate(err error, told func(op protocol.Operation) bool) error {
	switch {
	case errors.Is(err, fileops.ErrArchived):
		return cli.WithStatus(cli.StatusOver, err)
	case errors.Is(err, protocol.ErrNotRunning):
		op, _, failed := c.Ledger.ReadOperation(c.Op)
		if failed == nil && op.State.Terminal() {
			return cli.WithStatus(cli.StatusOver, err)
		}
		err = notBegun{fmt.Sprintf("%s: not started: %s", c.Name(), FailedBecause(op)), err}
		if told != nil && told(op) {
			c.Env.Logf("%v", err)
			err = cli.Silent(err)
		}
		return cli.WithStatus(cli.StatusCleanUp, err)
	}

	return err
}
