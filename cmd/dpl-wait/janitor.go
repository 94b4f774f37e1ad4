package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// A janitor makes the edits that the death of a participant calls for, so that nobody waits for the dead (spec §13.4).
type janitor struct {
	env    *cli.Env
	ledger *fileops.Ledger
	by     string

	vigil  protocol.Vigil
	edited time.Time // when the last edit was made
	idle   bool      // it cannot edit
}

// look looks at op, which is not terminal, as seen, and returns how long to wait at most before the next look. News is something
// that an edit has to remember.
func (j *janitor) look(op protocol.Operation, seen protocol.Observation, news bool) time.Duration {
	if j.idle {
		return time.Hour
	}
	seen = j.vigil.Look(seen, op.StalenessThreshold)
	after, err := op.Cleanup(j.by, seen)
	if err != nil || after.Revision == op.Revision && !news {
		return j.untilStale(op, seen)
	}
	if wait := time.Until(j.edited.Add(op.HeartbeatInterval)); wait > 0 {
		return wait // so that others see a crash before it is cleaned up
	}
	j.edited = time.Now()
	_, err = j.env.Edit(j.ledger, op.ID, fileops.Existing|fileops.Try, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
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

// untilStale returns how long it takes until somebody may go stale, at most a threshold; a third of it while somebody is judged by
// heartbeats, so that the janitor knows whether it was stopped itself (spec §4.6).
func (j *janitor) untilStale(op protocol.Operation, seen protocol.Observation) time.Duration {
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
