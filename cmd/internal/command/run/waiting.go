package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	changes "github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// waiting waits for the run that is there to end (spec §15.7).
type waiting struct {
	call    *call
	began   time.Time
	until   time.Time // of --wait
	doubt   time.Time // until then, to learn whether calls that cannot be checked are alive
	seen    map[string]time.Time
	changes *changes.Notifier
}

// lookEvery is how often to look at a run that is in the way.
const lookEvery = time.Second

// wait begins to wait for op.
func (c *call) wait(op protocol.Operation) *waiting {
	w := &waiting{call: c, began: time.Now(), seen: make(map[string]time.Time),
		changes: c.Ledger.Notify([]string{c.Op}, nil)}
	w.until = w.began.Add(time.Duration(c.flags.Wait))
	if c.flags.Wait < 0 || w.until.Before(w.began) { // infinity
		w.until = w.began.AddDate(1000, 0, 0)
	}
	if !w.alive(op) {
		w.doubt = w.began.Add(2*op.StalenessThreshold + lookEvery)
		c.Env.Warnf("%s: looking for %v whether its calls are alive", c.Op, 2*op.StalenessThreshold)
	}
	for _, f := range op.Stack {
		w.seen[f.CallID] = f.LastHeartbeat
	}
	return w
}

func (w *waiting) stop() {
	if w != nil {
		w.changes.Close()
	}
}

// alive reports whether op has a live call whose process is there, or that has sent a heartbeat
// since the wait began.
func (w *waiting) alive(op protocol.Operation) bool {
	seen, _ := w.call.Ledger.ObserveOperation(op, w.call.Env.Observer()())
	return slices.ContainsFunc(op.Stack, func(f *protocol.Frame) bool {
		before, known := w.seen[f.CallID]
		return f.State.Live() && (seen.Checks(f.Vitals) || known && !f.LastHeartbeat.Equal(before))
	})
}

// next returns nil when it is worth another try, or the reason why not to wait any longer.
func (w *waiting) next(signals <-chan os.Signal) error {
	c := w.call
	for {
		w.changes.Arm()
		op, archived, err := c.Ledger.ReadOperation(c.Op)
		switch {
		case archived, errors.Is(err, fileops.ErrNotFound):
			return nil
		case err != nil:
			return cli.Named("push", c.Op, c.Push.Call, err)
		case w.doubt.IsZero() || w.alive(op):
			w.doubt = time.Time{}
		default: // a pass grants a grace, and after that it finds the dead
			_, err := c.Env.EditOperation(c.Ledger, c.Op, fileops.Existing|fileops.Try,
				func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
					if op.State.Terminal() {
						return op, protocol.ErrNotRunning
					}
					return op.Cleanup(c.Push.Participant, seen)
				})
			if err == nil {
				op, _, err = c.Ledger.ReadOperation(c.Op)
			}
			if err != nil {
				return nil
			}
		}

		seen, _ := c.Ledger.ObserveOperation(op, c.Env.Observer()())
		err = op.MayBegin(seen)
		if !errors.Is(err, protocol.ErrRunning) && !errors.Is(err, protocol.ErrStopping) {
			return nil
		}
		now := time.Now()
		if !now.Before(w.until) && !now.Before(w.doubt) {
			return c.overlap(op, err)
		}
		rest := min(lookEvery, max(w.until.Sub(now), w.doubt.Sub(now)))
		if err := asked(signals, w.changes.C(), max(rest, time.Millisecond)); err != nil {
			return fmt.Errorf("%s: %w", c.Op, err)
		}
	}
}

// overlap returns the error for a run that is still there.
func (c *call) overlap(op protocol.Operation, why error) error {
	i := slices.IndexFunc(op.Stack, func(f *protocol.Frame) bool { return f.State.Live() })
	first := op.Stack[i]
	who := first.ParticipantID
	if first.StartID != "" {
		who = "dpl-run"
	}
	if first.PID != 0 {
		who = fmt.Sprintf("%s %d", who, first.PID)
	}

	since := session.Clock(first.StartTime, c.Env.Now())
	text := fmt.Sprintf("%s: running since %s (%s): --wait waits for it, --join adds a call to it",
		c.Op, since, who)
	switch {
	case errors.Is(why, protocol.ErrStopping):
		text = fmt.Sprintf("%s: is being stopped, running since %s (%s): --wait waits for it",
			c.Op, since, who)
	case c.flags.Wait > 0:
		text = fmt.Sprintf("%s: still running after --wait %v, since %s (%s)", c.Op,
			time.Duration(c.flags.Wait), since, who)
	}
	return cli.WithStatus(cli.StatusBusy, errors.New(text))
}
