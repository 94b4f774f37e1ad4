package session

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// EndDead makes the passes, as by, that end the operation id of l, whose calls are all dead (spec
// §15.7). It returns protocol.ErrRunning, ErrStopping or ErrSupervised, and makes no pass, if that
// is not so. If run is not "", it does nothing to another run.
func (s *Session) EndDead(l *fileops.Ledger, id, run, by string) error {
	for {
		op, archived, err := l.ReadOperation(id)
		if err != nil || archived || run != "" && op.RunID != run {
			return err
		}

		seen, _ := l.ObserveOperation(op, s.Observer()())
		err = op.MayBegin(seen)
		switch {
		case errors.Is(err, protocol.ErrNotRunning):
			return nil // it has ended
		case !errors.Is(err, protocol.ErrDeadCalls):
			return err
		}

		_, err = s.EditOperation(l, id, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				if op.State.Terminal() || run != "" && op.RunID != run {
					return op, protocol.ErrNotRunning
				}
				return op.Cleanup(by, seen)
			})
		if err != nil && !errors.Is(err, protocol.ErrNotRunning) &&
			!errors.Is(err, fileops.ErrArchived) {
			return err
		}
	}
}

// Marks returns the marks of the processes of calls of op that have crashed, with the calls: the
// processes may still be there although op has ended (spec §15.7). A call counts as crashed if it is
// judged so on evidence of seen, which may be the zero Observation.
func Marks(op protocol.Operation, seen observe.Observation) map[string]string {
	calls := make(map[string]string)
	for _, f := range op.Stack {
		if f.StartID != "" && (!f.State.Live() || seen.Gone(f.Vitals) != "") {
			calls[f.StartID] = f.CallID
		}
	}
	for i := range op.Events {
		if e := &op.Events[i]; e.StartID != "" {
			calls[e.StartID] = e.CallID
		}
	}
	return calls
}

// Clock returns t for people who read it at now: the time of day, after the date if that is
// another.
func Clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}
