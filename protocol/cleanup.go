package protocol

import "time"

// abandonedAfter is how long a running operation may be empty and untouched (spec §5.5).
const abandonedAfter = time.Hour

// Cleanup returns op after a pass of by, who takes no part in it (spec §5.5): a janitor. It returns op as it is if there is
// nothing to do, and ErrExpired if op is to be archived.
func (op Operation) Cleanup(by string, seen Observation) (Operation, error) {
	if op.State.Terminal() {
		return op.countdown()
	}
	e := op.begin(by, seen)
	e.judgeAll("")
	if e.op.State == Running && len(e.op.Stack) == 0 && e.seen.since(e.op.LastHeartbeat, Beat{}) > abandonedAfter {
		e.setState(Failed, "abandoned")
	}
	return e.end()
}

// Lingering returns the live frames of an operation that has been in cleanup for more than ten thresholds: they were told
// to clean up and pop, and have not.
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
