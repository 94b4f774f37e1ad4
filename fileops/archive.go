package fileops

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The limits of PruneArchive.
const (
	keepCopies    = 20
	keepFor       = time.Hour
	keepFailed    = 1000
	keepFailedFor = 7 * 24 * time.Hour

	mostRead = 128 // copies, about, once those that completed are enough
)

// archiveCopy is one file in archive/.
type archiveCopy struct {
	id      string
	n       int
	modTime time.Time
}

// PruneArchive removes archived operations (spec §2.6). It keeps those last edited less than an hour
// before now, for processes that wait for them; the newest 20; the newest 20 that completed; and the
// newest 1000 that failed, for 7 days. Attempts at tasks count by themselves: the newest 20 stay,
// because their queue tells how they ended. The first copy of an operation outlives the others: its existence
// shows, without a listing, whether an operation was archived.
//
// To tell what failed, it reads copies. If there are many, it leaves some that completed to later
// calls, so that its time does not grow with the number of failures.
func (l *Ledger) PruneArchive(now time.Time) error {
	defer l.fs.Refresh()
	copies, err := l.archiveCopies()
	if err != nil || len(copies) <= keepCopies {
		return err
	}

	slices.SortFunc(copies,
		func(a, b archiveCopy) int {
			return cmp.Or(b.modTime.Compare(a.modTime),
				cmp.Compare(b.n, a.n))
		})
	if now.Sub(copies[len(copies)-1].modTime) < keepFor {
		return nil
	}

	keeper := keeper{ledger: l, now: now, oneIn: max(1, len(copies)/mostRead)}
	stay := make(map[string]bool)
	var firsts []archiveCopy

	for i, c := range copies {
		keep, keepErr := keeper.keep(c)
		err = errors.Join(err, keepErr)
		switch {
		case keep || i < keepCopies:
			stay[c.id] = true
		case c.n == 1:
			firsts = append(firsts, c)
		default:
			err = errors.Join(err, l.fs.RemoveIfThere(l.ArchivePath(c.id, c.n)))
		}
	}

	for _, c := range firsts {
		if !stay[c.id] {
			err = errors.Join(err, l.fs.RemoveIfThere(l.ArchivePath(c.id, c.n)))
		}
	}

	return err
}

// A keeper decides which copies stay. It is asked from the newest to the oldest, and reads only
// those whose age does not decide.
type keeper struct {
	ledger *Ledger
	now    time.Time
	oneIn  int // it reads one of so many copies that it need not read

	completed, failed, attempts int // so many it has seen; of failed ones, those that are not young
}

func (k *keeper) keep(c archiveCopy) (bool, error) {
	age := k.now.Sub(c.modTime)
	young := age < keepFor

	if k.ledger.isAttempt(c.id) {
		k.attempts++
		return young || k.attempts <= keepCopies, nil
	}
	if k.completed >= keepCopies {
		switch {
		case young:
			return true, nil
		case age >= keepFailedFor || k.failed >= keepFailed:
			return false, nil
		case rand.IntN(k.oneIn) != 0:
			k.failed++
			return true, nil
		}
	}

	failed, err := k.ledger.hasFailed(c)
	if err != nil { // it is not removed unseen
		return !errors.Is(err, fs.ErrNotExist), trust.IgnoreMissing(err)
	}
	if !failed {
		k.completed++
		return young || k.completed <= keepCopies, nil
	}
	if !young {
		k.failed++
	}
	return young || age < keepFailedFor && k.failed <= keepFailed, nil
}

// hasFailed reports whether a copy is of an operation that failed or was aborted. A copy that is no
// operation has not.
func (l *Ledger) hasFailed(c archiveCopy) (bool, error) {
	_, state, err := l.glance(l.ArchivePath(c.id, c.n))
	if err != nil || state != "" {
		return state == protocol.Failed, err
	}
	op, err := l.readCopy(c)
	switch {
	case errors.Is(err, wire.ErrCorrupt):
		err = nil
	case err != nil:
		err = fmt.Errorf("%s: %w", l.ArchivePath(c.id, c.n), err)
	}
	return op.State == protocol.Failed, err
}

// archiveCopies lists the operations in archive/, one entry per copy.
func (l *Ledger) archiveCopies() ([]archiveCopy, error) {
	names, err := l.fs.Entries(l.ArchiveDir())
	if err != nil {
		return nil, err
	}

	var copies []archiveCopy
	for _, name := range names {
		kind, id, n := layout.InArchive(name)
		if kind != layout.ArchivedFile {
			continue
		}

		info, err := l.fs.Lstat(l.ArchivePath(id, n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}

		copies = append(copies, archiveCopy{id, n, info.ModTime})
	}

	return copies, nil
}

func (l *Ledger) readCopy(c archiveCopy) (op protocol.Operation, err error) {
	data, _, err := l.fs.ReadFile(l.ArchivePath(c.id, c.n))
	if err == nil {
		op, err = protocol.Decode(trust.AsString(data))
	}
	return op, err
}

// IsAttempt reports whether the operation id is an attempt at a task of a queue that exists.
func (l *Ledger) IsAttempt(id string) bool {
	defer l.fs.Refresh()
	return l.isAttempt(id)
}

func (l *Ledger) isAttempt(id string) bool {
	queueID, _, _, ok := queue.ParseAttemptID(id)
	return ok && l.checkPresent(l.queueDocument(queueID)) == nil
}
