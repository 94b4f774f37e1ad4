package fileops

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// Commit makes after the group, and does what its Effects ask for: a registry that was cleared is copied to the archive
// first, and for a heartbeat and no more SyncDefault does not fsync the directory. It writes the file whose Revision differs
// from Group's, and one that is missing; if neither Revision differs it writes nothing.
//
// After an error that is neither ErrCommitted nor ErrUnknown nothing of after is there. ErrCommitted means that others see the
// registry of after, but perhaps still the orchestrator from before, and that a power cut may undo both. Group tells what they
// see. ErrUnknown means that nothing of after is there, or all that ErrCommitted means.
// A power cut in the middle of a Commit may leave either of the two files from before.
func (tx *GroupTx) Commit(after protocol.Group) error {
	if after.Effects().Cleared {
		if err := tx.archiveRegistry(); err != nil {
			return err
		}
	}
	return tx.commit(after, after.Effects().BeatOnly)
}

func (tx *GroupTx) commit(after protocol.Group, beat bool) error {
	l, sync := tx.ledger, tx.ledger.sync(beat)
	changes := tx.changes(after)
	for _, c := range changes {
		if err := tx.prepare(c, sync); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		return nil
	}
	dirs, err := l.openDirs(sync, l.dir)
	if err != nil {
		return err
	}
	for i, c := range changes {
		made, commitErr := c.temp.commit(c.next, *c.base)
		if made != isMade && i == 0 {
			return dirs.end(made, tx.lost(commitErr))
		}
		err = errors.Join(err, tx.lost(commitErr))
		if made != isMade {
			break
		}
		tx.absent, tx.won = false, true
		c.done()
		*c.base, commitErr = l.made(c.target, c.next.revision)
		err = errors.Join(err, commitErr)
	}
	return dirs.sync(err)
}

// lost returns err, or, if an edit that has made a commit cannot begin again, the same in words.
func (tx *GroupTx) lost(err error) error {
	if tx.won && errors.Is(err, errLost) {
		return errOvertaken
	}
	return err
}

// A change is one file that a Commit replaces.
type change struct {
	temp   *temp
	base   *state
	target string
	next   contents
	done   func()
}

// changes returns what has to be replaced, in this order.
func (tx *GroupTx) changes(after protocol.Group) []change {
	now := &tx.group
	registry := after.Registry.Revision != now.Registry.Revision
	orchestrator := after.Orchestrator.Revision != now.Orchestrator.Revision
	if !registry && !orchestrator {
		return nil
	}
	var changes []change
	if has := &tx.bases.supervisors; registry || !has.exists {
		changes = append(changes, change{&tx.temps[0], has, tx.ledger.supervisors(tx.id),
			contents{content(after.Registry.Encode()), after.Registry.Revision}, func() { now.Registry = after.Registry }})
	}
	if has := &tx.bases.orchestrator; orchestrator || !has.exists {
		changes = append(changes, change{&tx.temps[1], has, tx.ledger.orchestrator(tx.id),
			contents{content(after.Orchestrator.Encode()), after.Orchestrator.Revision}, func() { now.Orchestrator = after.Orchestrator }})
	}
	return changes
}

// prepare writes the temporary file of a change. The first Commit finds one that begin has made.
func (tx *GroupTx) prepare(c change, sync Sync) (err error) {
	if c.temp.file == nil {
		c.temp.remove()
		if *c.temp, err = tx.ledger.createTemp(c.target); err != nil {
			return err
		}
	}
	return c.temp.write(c.next, sync)
}

// archiveRegistry copies the supervisors file as it is into the archive. It does nothing if there is none. When it returns
// nil the copy survives a power cut, unless Options.Sync asks for less.
func (tx *GroupTx) archiveRegistry() error {
	l, sync := tx.ledger, tx.ledger.sync(false)
	registry, err := l.current(l.supervisors(tx.id))
	if err != nil {
		return ignoreMissing(err)
	}
	if err := l.ensureDir(l.archive()); err != nil {
		return err
	}
	names, err := l.readDir(l.archive())
	if err != nil {
		return err
	}
	newest := 0
	for _, name := range names {
		if n, ok := archivedRegistryOf(tx.id, name); ok {
			newest = max(newest, n)
		}
	}
	if newest == maxCopy {
		name := l.archivedRegistry(tx.id, newest)
		return fmt.Errorf("%s: %w: no number follows its own: move it away", name, protocol.ErrCorrupt)
	}
	temp := tempOf(l.supervisors(tx.id))
	if err := l.writeNew(temp, registry.data, sync); err != nil {
		return err
	}
	if err := l.fs.Move(temp, l.archivedRegistry(tx.id, newest+1)); err != nil {
		return errors.Join(err, l.removeIfThere(temp))
	}
	if sync != SyncFull {
		return nil
	}
	return l.withFile(l.archive(), disk.File.Sync)
}
