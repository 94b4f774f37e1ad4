package protocol

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// abandonedAfter is how long a running operation may be empty and untouched (spec §5.5).
const abandonedAfter = time.Hour

// Cleanup returns op after a pass by a program that is no participant (spec §5.5). It returns op
// unchanged if there is nothing to do, and ErrExpired if op must be archived.
func (op Operation) Cleanup(by string, seen observe.Observation) (Operation, error) {
	if op.State.Terminal() {
		return op.countdown()
	}

	e := op.begin("cleanup", by, seen)
	e.judgeAll("")
	if e.op.State == Running && len(e.op.Stack) == 0 &&
		e.seen.Age(e.op.LastHeartbeat, observe.Beat{}) > abandonedAfter {
		e.setState(Failed, "abandoned")
	}
	return e.end()
}

// Lingering returns the live frames of an operation that has been in cleanup for more than ten
// thresholds. Their participants should have cleaned up and popped long ago.
func (op Operation) Lingering(now time.Time) []*Frame {
	if op.State != Cleanup {
		return nil
	}

	var since time.Time
	for _, t := range op.Transitions {
		if t.To == Cleanup {
			since = t.At
		}
	}

	if since.IsZero() || !op.overdue(now.Sub(since)) {
		return nil
	}

	var frames []*Frame
	for _, f := range op.Stack {
		if f.State.Live() {
			frames = append(frames, f)
		}
	}

	return frames
}
