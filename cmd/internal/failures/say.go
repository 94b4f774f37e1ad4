package failures

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Window is how long ago an operation in the archive may have been edited last, for its failure to
// be told or printed.
const Window = 24 * time.Hour

// A Saying is a failure that this process alone is printing.
type Saying struct {
	Operation protocol.Operation
	Failure   protocol.Failure
	telling   *fileops.Telling
}

// Begin returns the Saying of the failure of op, or nil if there is nothing to print: op has not
// failed, or was aborted, or its failure was printed, or another process is printing it.
func Begin(l *fileops.Ledger, op protocol.Operation) (*Saying, error) {
	f, failed := op.Failure()
	if !failed || f.To == protocol.Aborted {
		return nil, nil
	}

	telling, err := l.Say(op.ID, op.RunID, f.Revision)
	switch {
	case errors.Is(err, fileops.ErrBusy) || err == nil && telling == nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: print its failure: %w", op.ID, err)
	}
	return &Saying{op, f, telling}, nil
}

// End records that the failure was printed, unless printErr, the result of printing it, is an error.
// Then, or if this process is killed before, another process prints it.
func (s *Saying) End(printErr error) error {
	err := printErr
	if err == nil {
		if err = s.telling.Told(); err != nil {
			err = fmt.Errorf("%s: its failure was printed, but this could not be recorded: %w",
				s.Operation.ID, err)
		}
	}
	return errors.Join(err, s.telling.Release())
}

// Say prints the failure of op by print, once among all processes. It reports whether it has: see
// Begin for when it has not. If print returns an error, another process prints the failure.
func Say(l *fileops.Ledger, op protocol.Operation,
	print func(f protocol.Failure) error) (said bool, err error) {
	s, err := Begin(l, op)
	if s == nil || err != nil {
		return false, err
	}
	err = print(s.Failure)
	return err == nil, s.End(err)
}

// Line returns the line about the failure of op that dpl-cleanup prints: why, and when this was
// found in local time, with the date if that is not the one of now.
func Line(op string, f protocol.Failure, now time.Time) string {
	at, format := f.At.Local(), time.TimeOnly
	if at.Format(time.DateOnly) != now.Local().Format(time.DateOnly) {
		format = time.DateTime
	}
	return fmt.Sprintf("%s: failed: %s, found %s", op, explain.Why(f.Transition), at.Format(format))
}

// Object returns the same for programs. path is the file of op.
func (s *Saying) Object(path string) cli.Object {
	op, f := s.Operation, s.Failure
	return cli.Object{
		{"operationId", op.ID}, {"runId", cli.OrNull(op.RunID)}, {"revision", f.Revision},
		{"reason", explain.Why(f.Transition)}, {"cause", cli.Cause(f.Cause)}, {"by", f.By},
		{"at", wire.FormatTime(f.At)}, {"path", path},
	}
}
