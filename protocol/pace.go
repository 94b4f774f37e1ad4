package protocol

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// share is the time that each live frame of an operation adds to the time between two heartbeats of
// any of them, so that all frames together make at most 5 edits in 2 seconds.
const share = 400 * time.Millisecond

// Pace returns how long a runner (spec §15.1) waits between two heartbeats of call, which is in op:
// a third of the threshold, or the interval of the operation if that is longer. If every
// participant is on the observer's host, and call is judged by its process, heartbeats prove
// nothing, and the time grows with the number of live frames. In a container it does not: whoever
// looks from outside has only the heartbeats.
func (op Operation) Pace(call string, seen observe.Observation) time.Duration {
	pace := max(op.HeartbeatInterval, op.StalenessThreshold/3)
	f := op.Frame(call)
	if f == nil || seen.CountsHeartbeats(f.Vitals) || seen.Sightings != nil ||
		seen.Host.PIDNamespace != observe.FirstPIDNamespace {
		return pace
	}

	live := time.Duration(0)
	for _, f := range op.Stack {
		if !f.State.Live() {
			continue
		}
		if !isHere(f, seen) {
			return pace
		}
		live++
	}

	return max(pace, live*share)
}

// isHere reports whether nothing says that the participant of f is on another host, or in another
// pid namespace.
func isHere(f *Frame, seen observe.Observation) bool {
	if p := f.Identity(); p.Known() {
		return seen.CanCheck(p)
	}
	return f.Beat.BootID == "" || f.Beat.BootID == seen.Host.BootID
}

// Glance returns the revision and the state of the operation whose text begins with start, or 0
// and "" if start does not show them. It reads no further than it must.
func Glance(start string) (revision int64, state State) {
	r := wire.NewReader(start, 0)
	told := false
	r.Object(func(name string) {
		// The name that follows shows that nothing was cut off.
		told = revision > 0 && state.Valid()

		switch {
		case told:
			r.Refuse("enough")
		case name == "protocolVersion":
			r.Version()
		case name == "revision":
			revision = r.Revision()
		case name == "state":
			state = State(r.String())
		default:
			r.Value()
		}
	})

	if !told {
		return 0, ""
	}

	return revision, state
}
