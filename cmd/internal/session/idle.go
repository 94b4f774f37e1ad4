package session

import (
	"errors"
	"math/rand/v2"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

const (
	mostIdle  = 16
	idleAfter = 10 * protocol.DefaultStalenessThreshold
)

// PassOverIdle makes a pass over up to 16 operations, other than op, that have not changed for ten
// thresholds, so that a ledger does not grow where no cron job runs dpl-cleanup. It does not wait
// for locks, and leaves failed passes to dpl-cleanup. It returns an error if the archive could not
// be pruned.
func (s *Session) PassOverIdle(l *fileops.Ledger, op string) error {
	entries, err := l.List()
	if err != nil {
		return nil
	}

	now := s.Now()
	start, passes := rand.IntN(max(len(entries), 1)), 0
	for i := range entries {
		e := entries[(start+i)%len(entries)]
		if e.ID == op || now.Sub(e.ModTime) <= idleAfter {
			continue
		}

		_, err := l.EditOperation(e.ID, fileops.Existing|fileops.Try, s.cleanup)
		if err == nil || !errors.Is(err, fileops.ErrBusy) {
			passes++
		}
		if passes == mostIdle {
			break
		}
	}

	return l.PruneArchive(now)
}
