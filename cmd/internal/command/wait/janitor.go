package wait

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A janitor makes the edits that a participant's death calls for, so that dpl-wait does not wait
// for a dead one (spec §13.4).
type janitor struct {
	env    *cli.Env
	ledger *fileops.Ledger
	by     string

	vigil  observe.Vigil
	edited time.Time // when the last edit was made
	idle   bool      // it has no right to edit
}

// look examines op, which is not terminal, and returns how long to wait at most before the next
// look. news means that there is something an edit should remember.
func (j *janitor) look(op protocol.Operation, seen observe.Observation, news bool) time.Duration {
	if j.idle {
		return time.Hour
	}

	seen = j.vigil.Look(seen, op.StalenessThreshold)
	after, err := op.Cleanup(j.by, seen)
	if err != nil || after.Revision == op.Revision && !news {
		return j.untilStale(op, seen)
	}
	if wait := time.Until(j.edited.Add(op.HeartbeatInterval)); wait > 0 {
		return wait // gives others time to see a crash before its cleanup
	}

	j.edited = time.Now()
	_, err = j.env.Edit(j.ledger, op.ID, fileops.Existing|fileops.Try,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			if op.State.Terminal() {
				return op, protocol.ErrOver
			}
			return op.Cleanup(j.by, j.vigil.Look(seen, op.StalenessThreshold))
		})

	if err != nil {
		j.env.Logf("%v", cli.Named("cleanup", op.ID, "", err))
		j.idle = !cli.Transient(err)
	}

	return op.HeartbeatInterval
}

// untilStale returns the time until a participant may go stale, at most one threshold. If
// heartbeats decide for any participant it is at most a third of that, so that the janitor notices
// if it was itself stopped (spec §4.6).
func (j *janitor) untilStale(op protocol.Operation, seen observe.Observation) time.Duration {
	first := min(op.StalenessThreshold, time.Hour)
	for _, m := range op.Mortals(seen) {
		if !m.Beats {
			continue
		}
		first = min(first, op.StalenessThreshold/3)
		if m.StaleIn >= 0 {
			first = min(first, m.StaleIn)
		}
	}

	return first + 10*time.Millisecond
}
