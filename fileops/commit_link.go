package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

// What pruneVersions keeps.
const (
	keepVersions = 1000
	keepVersion  = time.Hour // no client of a file system may be paused, or believe in what it remembers, for longer
	pruneEvery   = 64        // commits
)

// link makes what was written version n of the target, which follows base, unless somebody else has made that version by now:
// errLost.
//
// The name that is linked decides. But if what it follows is gone, so may be others of that name, and that it was free says
// nothing. The hint is renamed afterwards, which may happen late, or never.
func (t *temp) link(n int64, base state) (made outcome, err error) {
	l, version, before := t.ledger, versionOf(t.target, n), versionOf(t.target, base.version)
	if !base.exists && !base.over {
		before = originOf(t.target)
		if base.info, err = l.origin(t.target, base); err != nil {
			return notMade, err
		}
	}
	if made, err = l.linkNew(t.path, version); made != isMade {
		return made, err
	}
	if err := l.checkBase(before, base.info); err != nil {
		return mayBeMade, err // the version stays: others may have gone on from it
	}
	if err := l.fs.Replace(t.path, t.target); err != nil {
		l.recordLeftover(fmt.Errorf("rename to %s: %w", t.target, err))
		t.remove()
	}
	t.path = ""
	if n%pruneEvery == 0 {
		l.recordLeftover(l.pruneVersions(t.target, keepVersions, version))
	}
	return isMade, nil
}

// made returns the state of the file at path, of which this edit has just committed a version.
func (l *Ledger) made(path string, version int64) (state, error) {
	s := state{exists: true, version: version}
	if !l.linked() {
		return s, nil
	}
	var err error
	s.info, err = l.fs.Lstat(versionOf(path, version))
	return s, err
}

// errTooLate means that an edit was paused for so long, between its last two system calls, that nothing tells any more whether
// it came first.
var errTooLate = errors.New("it was paused for too long to know")

// origin makes the file that the first version follows, and then looks again: whoever sees it looks no further back.
func (l *Ledger) origin(path string, base state) (disk.Info, error) {
	if err := l.publish(originOf(path), nil, SyncNone); err != nil {
		return disk.Info{}, err
	}
	info, err := l.fs.Lstat(originOf(path))
	if errors.Is(err, fs.ErrNotExist) {
		err = errLost
	}
	if err != nil {
		return disk.Info{}, err
	}
	_, err = l.latest(path)
	if err == nil {
		return disk.Info{}, errLost
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return disk.Info{}, err
	}
	_, copies, err := l.copies(path)
	if err == nil && copies != base.copies {
		err = errLost
	}
	return info, err
}

// linkNew gives the file at old the name new. It returns errLost if that is another file's, or old is gone. A network may also
// have asked twice, the second time in vain.
func (l *Ledger) linkNew(old, new string) (outcome, error) {
	err := l.fs.Link(old, new)
	if err == nil {
		return isMade, nil
	}
	info, lookErr := l.fs.Lstat(old)
	if errors.Is(lookErr, fs.ErrNotExist) {
		return notMade, errLost
	}
	same := false
	if lookErr == nil {
		same, lookErr = l.isSameFile(new, info)
	}
	switch {
	case same:
		return isMade, nil
	case lookErr != nil:
		return outcomeAfterError(false, err, lookErr)
	case errors.Is(err, fs.ErrExist):
		err = errLost
	}
	return notMade, err
}

// settle makes good, under the lock, what a killed edit, or another way of committing, has left: a hint that is missing, and
// a version that is.
func (l *Ledger) settle(path string, s state) (state, error) {
	if s.version == none {
		revision, err := revisionOf(s.data)
		if err != nil {
			return s, nil // whoever decodes it will say so
		}
		s.version = revision
		_, err = l.linkNew(path, versionOf(path, revision))
		return s, err
	}
	if s.over || l.exists(path) {
		return s, nil
	}
	return s, l.makeHint(path, s)
}

// settleFile is settle for a file that nobody is about to edit.
func (l *Ledger) settleFile(path string) error {
	s, err := l.latest(path)
	if err == nil {
		_, err = l.settle(path, s)
	}
	return ignoreMissing(err)
}

// makeHint makes a version the hint, but no other that has come to its name meanwhile.
func (l *Ledger) makeHint(path string, s state) error {
	temp := tempOf(path)
	if _, err := l.linkNew(versionOf(path, s.version), temp); err != nil {
		return err
	}
	same, err := l.isSameFile(temp, s.info)
	if err == nil && !same {
		err = errLost
	}
	if err == nil {
		if err = l.fs.Link(temp, path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, l.removeIfThere(temp))
}

// settle is Ledger.settle for the operation. One that is over is no longer there.
func (tx *Tx) settle() (err error) {
	l := tx.ledger
	if tx.base, err = l.settle(l.operation(tx.id), tx.base); err != nil || !tx.base.over {
		return err
	}
	tx.absent, tx.base.exists, tx.base.data = true, false, nil
	now, err := l.fs.Lstat(tx.temp.path)
	if err != nil || !l.exists(l.operation(tx.id)) && now.ModTime.Sub(tx.base.info.ModTime) > keepVersion {
		return err // its copy may have been pruned
	}
	return l.finishArchive(tx.id, tx.base)
}

// settle is Ledger.settle for the files of the group.
func (tx *GroupTx) settle() (err error) {
	l := tx.ledger
	if !l.linked() {
		return nil
	}
	if has := &tx.bases.supervisors; has.exists {
		*has, err = l.settle(l.supervisors(tx.id), *has)
	}
	if has := &tx.bases.orchestrator; err == nil && has.exists {
		*has, err = l.settle(l.orchestrator(tx.id), *has)
	}
	return err
}

// archiveVersion makes the version after s that says that the operation is over, and then puts s into the archive.
func (l *Ledger) archiveVersion(id string, s state) (outcome, error) {
	path := l.operation(id)
	end := versionOf(path, s.version+1)
	if made, err := l.linkNew(versionOf(path, s.version), end); made != isMade {
		return made, err
	}
	if err := l.checkBase(end, s.info); err != nil {
		return mayBeMade, err
	}
	s.version, s.over = s.version+1, true
	return isMade, l.finishArchive(id, s)
}

// finishArchive goes on from where an edit that archived the operation may have been killed: with a copy in the archive, unless
// there is one as new. The hint is the last to go.
func (l *Ledger) finishArchive(id string, s state) error {
	path := l.operation(id)
	for {
		revision, newest, err := l.newestRevision(id)
		if err != nil {
			return err
		}
		if newest > 0 && revision >= s.version-1 {
			return l.removeHint(path)
		}
		next, err := l.nextArchived(id)
		if err != nil {
			return err
		}
		err = l.fs.Link(versionOf(path, s.version), l.archived(id, next))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// newestRevision returns the revision and number of the newest copy of an operation in the archive, number 0 if there is none.
func (l *Ledger) newestRevision(id string) (revision int64, newest int, err error) {
	newest, err = l.newestArchived(id)
	if err != nil || newest == 0 {
		return 0, 0, err
	}
	data, _, err := l.readFile(l.archived(id, newest))
	if err == nil {
		revision, err = revisionOf(data)
	}
	return revision, newest, err
}

// removeHint removes the hint of an operation whose copy in the archive survives a power cut: without a hint nobody makes another.
func (l *Ledger) removeHint(path string) error {
	if l.sync(false) == SyncFull {
		if err := l.withFile(l.archive(), disk.File.Sync); err != nil {
			return err
		}
	}
	return l.removeIfThere(path)
}

// pruneOver removes what hosts remember of an operation that is archived, and prunes its versions. The version that says so
// stays as long as its copy in the archive, so that what begins anew follows it.
func (tx *Tx) pruneOver() error {
	l, path, keep := tx.ledger, tx.ledger.operation(tx.id), 0
	switch _, err := l.fs.Lstat(l.archived(tx.id, 1)); { // of all copies it goes last
	case err == nil:
		keep = 1
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	names, err := l.readDir(l.operations())
	for _, name := range names {
		if file, _, ok := strings.Cut(name, sightingsMark); ok && file == filepath.Base(path) {
			err = errors.Join(err, l.removeIfThere(filepath.Join(l.operations(), name)))
		}
	}
	return errors.Join(err, l.pruneVersions(path, keep, tx.temp.path))
}

// pruneVersions removes, in ascending order, the versions of the file at path that are older than an hour; the newest keep of
// them stay whatever their age. So a version that is there says that none after it has been removed. Young is a file that was
// written just now: it is the clock of the file system that counts.
func (l *Ledger) pruneVersions(path string, keep int, young string) error {
	numbers, err := l.versions(path)
	if err != nil || len(numbers) <= keep && keep > 0 {
		return err
	}
	now, err := l.fs.Lstat(young)
	if err != nil {
		return err
	}
	old := []string{originOf(path)}
	for _, n := range numbers[:len(numbers)-keep] {
		old = append(old, versionOf(path, n))
	}
	for _, file := range old {
		info, err := l.fs.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || now.ModTime.Sub(info.ModTime) <= keepVersion:
			return err
		}
		if err := l.removeIfThere(file); err != nil {
			return err
		}
	}
	return nil
}
