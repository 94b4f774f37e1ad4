package cli

import (
	"errors"
	"math/rand/v2"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

const (
	mostNeighbours = 16
	untouchedFor   = 10 * protocol.DefaultStalenessThreshold
)

// TickIdle makes a pass over up to 16 operations other than op that have not been edited for ten
// thresholds, so that a ledger without cron does not grow. It waits for no lock, and leaves errors
// to dpl-cleanup to report.
func (env *Env) TickIdle(l *fileops.Ledger, op string) {
	entries, err := l.List()
	if err != nil || len(entries) < 2 {
		return
	}

	now := env.Now()
	start, ticked := rand.IntN(len(entries)), 0
	for i := range entries {
		e := entries[(start+i)%len(entries)]
		if e.ID == op || now.Sub(e.ModTime) <= untouchedFor {
			continue
		}

		_, err := l.EditOperation(e.ID, fileops.Existing|fileops.Try, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			return op.Cleanup(env.Program, seen)
		})

		if err == nil || !errors.Is(err, fileops.ErrBusy) {
			ticked++
		}
		if ticked == mostNeighbours {
			break
		}
	}

	if err := l.PruneArchive(now); err != nil {
		env.Logf("%v", err)
	}
}
