package powerloss

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops"
	files "github.com/dpl-project/dpl/fileops/disk" // not the simulated disk of the tests
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// nextID is the id of what Next pushes.
const nextID = "after-the-power-cut"

// Next does in base, inside this process, what dpl-cleanup, dpl-push, dpl-pop, a pass of
// dpl-orchestrate, dpl-enqueue, dpl-claim and dpl-settle do at the time now. It returns ErrStuck
// unless all of it succeeds and leaves nothing behind.
func Next(base string, now time.Time) error {
	l, err := fileops.Create(LedgerOf(base), fileops.Config{},
		fileops.Options{LockTimeout: 5 * time.Second, Sync: files.SyncNone})
	if err == nil {
		seen := observe.Observation{Now: now}
		err = errors.Join(janitor(l, seen), pushAndPop(l, nextID, seen), deliver(l),
			useQueues(l, seen))
	}

	if err == nil {
		err = errors.Join(l.Sweep(), tidy(l))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStuck, err)
	}
	return nil
}

// janitor gives each operation a pass, and those that run then a call.
func janitor(l *fileops.Ledger, seen observe.Observation) error {
	entries, err := l.List()
	for _, e := range entries {
		edit, tickErr := l.EditOperation(e.ID, fileops.Existing,
			func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
				return op.Cleanup("next", seen)
			})

		if errors.Is(tickErr, fileops.ErrArchived) || errors.Is(tickErr, fileops.ErrNotFound) {
			continue // as dpl-cleanup does
		}
		if err = errors.Join(err, tickErr); tickErr == nil && !edit.Archived &&
			edit.After.State == protocol.Running {
			err = errors.Join(err, pushAndPop(l, e.ID, seen))
		}
	}

	return errors.Join(err, l.Sweep(), l.PruneArchive(seen.Now))
}

func pushAndPop(l *fileops.Ledger, id string, seen observe.Observation) error {
	_, err := l.EditOperation(id, fileops.OrCreate,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			if op.ID == "" {
				op = protocol.Create(id, "", 0, 0)
			}
			return op.Push(protocol.Push{Participant: "next", Call: nextID}, seen)
		})

	if err != nil {
		return err
	}

	_, err = l.EditOperation(id, fileops.Existing,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			return op.Pop(protocol.Pop{Call: nextID, KeepOpen: true}, seen)
		})
	return err
}

// deliver appends the alerts that a pass has left, as the next pass does, and checks that each is
// there once.
func deliver(l *fileops.Ledger) error {
	groups, err := l.Groups()
	for _, id := range groups {
		editErr := l.HoldGroup(id, fileops.Existing, func(tx *fileops.GroupTx) error {
			g := tx.Value()
			if err := fileops.AppendAlerts(tx, g.Registry.PendingAlerts); err != nil {
				return err
			}
			g.Registry.Revision++
			g.Registry.PendingAlerts = nil
			return tx.Commit(g)
		})

		if err = errors.Join(err, editErr); editErr == nil {
			err = errors.Join(err, alertsComplete(l, id))
		}
	}

	return err
}

func alertsComplete(l *fileops.Ledger, group string) error {
	g, err := l.ReadGroup(group)
	if err != nil {
		return err
	}

	lines, err := l.Alerts(group, 0)
	for i, line := range lines {
		if line.Seq != int64(i+1) {
			err = errors.Join(err, fmt.Errorf("group %s: alert %d is in line %d", group, line.Seq,
				i+1))
		}
	}

	if len(lines) != int(g.Registry.AlertSeq) {
		err = errors.Join(err, fmt.Errorf("group %s: %d alerts of %d", group, len(lines),
			g.Registry.AlertSeq))
	}
	return err
}

// tidy wants no temporary file to be left.
func tidy(l *fileops.Ledger) error {
	var wrong error
	for _, dir := range []string{".", "operations", "archive", "queues", "queues/tasks/*"} {
		names, err := filepath.Glob(filepath.Join(l.Dir(), dir, "*.tmp~*"))
		wrong = errors.Join(wrong, err)
		for _, name := range names {
			wrong = errors.Join(wrong, fmt.Errorf("left over: %s", name))
		}
	}

	return wrong
}

// NextCommands is Next with the commands in bin.
func NextCommands(bin, base string, at time.Duration) error {
	l, err := fileops.Open(LedgerOf(base), fileops.Options{})
	var groups, queues []string
	if err == nil {
		groups, err = l.Groups()
	}
	if err == nil {
		queues, err = l.QueueIDs()
	}
	if err != nil && !errors.Is(err, fileops.ErrNoLedger) {
		return fmt.Errorf("%w: %w", ErrStuck, err)
	}

	commands := []Command{
		on(at, "dpl-cleanup --if-exists"),
		on(at, "dpl-push --op "+nextID+" --call c --participant p"),
		on(at, "dpl-pop --op "+nextID+" --call c"),
		on(at, "dpl-status --op "+nextID),
	}

	for _, id := range groups {
		commands = append(commands, on(at, "dpl-orchestrate --owner me --group "+id))
	}

	for _, id := range queues {
		commands = append(commands,
			on(at, "dpl-enqueue --queue "+id+" --id "+nextID+" --text "+strings.Repeat("next", 200)),
			on(at, "dpl-claim --queue "+id+" --participant next --deadline 1h --task "+nextID))
	}

	for _, c := range commands {
		if err := c.Run(c.Exec(bin, base)); err != nil {
			return fmt.Errorf("%w: %w", ErrStuck, err)
		}
	}

	return nil
}
