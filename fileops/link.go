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

// What prune keeps.
const (
	keepVersions = 1000
	keepVersion  = time.Hour // no client of a file system may be paused, or believe in what it remembers, for longer
	pruneEvery   = 64        // commits
)

// An edit that commits by link makes these system calls (see edit.go for the others, and spec §17). The
// directory is opened before a read so that a client of a network looks at it anew.
//
//	openat     operations/op.json.lock
//	flock      operations/op.json.lock
//	fstat      operations/op.json.lock
//	newfstatat operations/op.json.lock
//	openat     operations/op.json.tmp~*
//	openat     operations
//	close      operations
//	openat     operations/op.json            # the hint
//	fstat      operations/op.json
//	read       operations/op.json
//	close      operations/op.json
//	openat     operations/op.json.2          # no version follows it
//	newfstatat operations/op.json.1          # and it is still there
//	newfstatat operations/op.json
//	write      operations/op.json.tmp~*
//	fsync      operations/op.json.tmp~*
//	close      operations/op.json.tmp~*
//	openat     operations
//	linkat     operations/op.json.tmp~* operations/op.json.2
//	newfstatat operations/op.json.1          # what it follows is still there
//	newfstatat operations/op.json
//	renameat   operations/op.json.tmp~* operations/op.json
//	newfstatat operations/op.json.2
//	openat     tmp
//	fstat      tmp
//	openat     tmp/op
//	fsync      operations
//	close      operations
//	flock      operations/op.json.lock
//	close      operations/op.json.lock

// link makes what was written version n of the file, which follows base, unless somebody else has
// made that version by now: errLost.
//
// The name that is linked decides. But if what it follows is gone, so may be others of that name, and
// that it was free says nothing. The hint is renamed afterwards, which may happen late, or never.
func (r *replacement) link(n int64) (made outcome, err error) {
	l, version, before := r.ledger, r.version(n), r.version(r.base.version)
	info := r.base.info
	if !r.base.exists && !r.base.over {
		before = originOf(r.path)
		if info, err = r.origin(r.base); err != nil {
			return notMade, err
		}
	}

	if made, err = l.linkNew(r.temp, version); made != isMade {
		return made, err
	}
	if err := l.checkBase(before, info); err != nil {
		return mayBeMade, err // the version stays: others may have gone on from it
	}

	if err := l.fs.Replace(r.temp, r.path); err != nil {
		l.recordLeftover(fmt.Errorf("rename to %s: %w", r.path, err))
		r.remove()
	}
	r.temp = ""
	if n%pruneEvery == 0 {
		l.recordLeftover(r.prune(keepVersions, version))
	}
	return isMade, nil
}

// origin makes the file that the first version follows, and then looks again: whoever sees it looks
// no further back.
func (f file) origin(base state) (disk.Info, error) {
	l, path := f.ledger, originOf(f.path)
	if err := l.publish(path, nil, SyncNone); err != nil {
		return disk.Info{}, err
	}
	info, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = errLost
	}
	if err != nil {
		return disk.Info{}, err
	}

	_, err = f.latest()
	if err == nil {
		return disk.Info{}, errLost
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return disk.Info{}, err
	}
	copies, err := f.newestCopy()
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

// settle makes good, under the lock, what a killed edit, or another way of committing, has left: a
// hint that is missing, a version that is, and an archive without the copy. Young is a file that was
// written just now.
func (f file) settle(s state, young string) (state, error) {
	switch {
	case s.over:
		return f.settleOver(s, young)
	case s.version != none && f.ledger.exists(f.path):
		return s, nil
	case s.version != none:
		return s, f.makeHint(s)
	}

	revision, err := revisionOf(s.data)
	if err != nil {
		return s, nil // whoever decodes it will say so
	}
	s.version = revision
	_, err = f.ledger.linkNew(f.path, f.version(revision))
	return s, err
}

// settleOver is settle for a file that is over, and so is no longer there.
func (f file) settleOver(s state, young string) (state, error) {
	s.exists, s.data = false, nil
	now, err := f.ledger.fs.Lstat(young)
	if err != nil || !f.ledger.exists(f.path) && now.ModTime.Sub(s.info.ModTime) > keepVersion {
		return s, err // its copy may have been pruned
	}
	return s, f.finishArchive(s)
}

// makeHint makes a version the hint, but no other that has come to its name meanwhile.
func (f file) makeHint(s state) error {
	l, temp := f.ledger, tempOf(f.path)
	if _, err := l.linkNew(f.version(s.version), temp); err != nil {
		return err
	}
	same, err := l.isSameFile(temp, s.info)
	if err == nil && !same {
		err = errLost
	}
	if err == nil {
		if err = l.fs.Link(temp, f.path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, l.removeIfThere(temp))
}

// archiveVersion makes the version after s that says that the file is over, and then puts s into the
// archive.
func (f file) archiveVersion(s state) (outcome, error) {
	end := f.version(s.version + 1)
	if made, err := f.ledger.linkNew(f.version(s.version), end); made != isMade {
		return made, err
	}
	if err := f.ledger.checkBase(end, s.info); err != nil {
		return mayBeMade, err
	}
	s.version, s.over = s.version+1, true
	return isMade, f.finishArchive(s)
}

// finishArchive goes on from where an edit that archived the file may have been killed: with a copy in
// the archive, unless there is one as new. The hint is the last to go.
func (f file) finishArchive(s state) error {
	for {
		revision, newest, err := f.newestRevision()
		if err != nil {
			return err
		}
		if newest > 0 && revision >= s.version-1 {
			return f.removeHint()
		}
		next, err := f.ledger.next(f.copies)
		if err != nil {
			return err
		}
		err = f.ledger.fs.Link(f.version(s.version), f.copies.path(next))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// newestRevision returns the revision and number of the newest copy of the file in the archive, number
// 0 if there is none.
func (f file) newestRevision() (revision int64, newest int, err error) {
	newest, err = f.newestCopy()
	if err != nil || newest == 0 {
		return 0, 0, err
	}
	data, _, err := f.ledger.readFile(f.copies.path(newest))
	if err == nil {
		revision, err = revisionOf(data)
	}
	return revision, newest, err
}

// removeHint removes the hint of a file whose copy in the archive survives a power cut: without a hint
// nobody makes another.
func (f file) removeHint() error {
	if f.ledger.sync(false) == SyncFull {
		if err := f.ledger.withFile(f.ledger.archive(), disk.File.Sync); err != nil {
			return err
		}
	}
	return f.ledger.removeIfThere(f.path)
}

// pruneOver removes what hosts remember of a file that is over, and prunes its versions. The version
// that says so stays as long as its copy in the archive, so that what begins anew follows it.
func (f file) pruneOver(young string) error {
	l, keep := f.ledger, 0
	if f.copies != (copies{}) {
		switch _, err := l.fs.Lstat(f.copies.path(1)); { // of all copies it goes last
		case err == nil:
			keep = 1
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}

	dir, base := filepath.Split(f.path)
	names, err := l.readDir(dir)
	for _, name := range names {
		if of, _, ok := strings.Cut(name, sightingsMark); ok && of == base {
			err = errors.Join(err, l.removeIfThere(filepath.Join(dir, name)))
		}
	}
	return errors.Join(err, f.prune(keep, young))
}

// prune removes, in ascending order, the versions of the file that are older than an hour; the newest keep of
// them stay whatever their age. So a version that is there says that none after it has been removed. Young is a file that was
// written just now: it is the clock of the file system that counts.
func (f file) prune(keep int, young string) error {
	l := f.ledger
	numbers, err := f.versions()
	if err != nil || len(numbers) <= keep && keep > 0 {
		return err
	}
	now, err := l.fs.Lstat(young)
	if err != nil {
		return err
	}
	old := []string{originOf(f.path)}
	for _, n := range numbers[:len(numbers)-keep] {
		old = append(old, f.version(n))
	}

	for _, path := range old {
		info, err := l.fs.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || now.ModTime.Sub(info.ModTime) <= keepVersion:
			return err
		}
		if err := l.removeIfThere(path); err != nil {
			return err
		}
	}
	return nil
}
