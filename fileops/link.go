package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// The limits of prune.
const (
	keepVersions = 1000
	// no client of a file system may be paused for longer, or trust its cache for longer
	keepVersion = time.Hour
	pruneEvery  = 64 // number of commits
)

// An edit that commits by link makes these system calls (see edit.go for the others, and spec §17).
// The directory is opened before a read so that a client of a network looks at it anew.
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

// link makes what was written version n of the file, which follows base. It returns errLost if
// another edit has made that version.
//
// The linked name decides. But if the version it follows is gone, other versions with that name may
// be gone as well, and then a free name proves nothing. The hint is renamed afterwards, which may
// happen late, or never.
func (r *replacement) link(n int64) (made outcome, err error) {
	l, version, before := r.ledger, r.version(n), r.version(r.base.version)
	info := r.base.info
	if !r.base.exists && !r.base.over {
		before = layout.OriginOf(r.path)
		if info, err = r.origin(r.base); err != nil {
			return notMade, err
		}
	}

	if made, err = l.linkNew(r.temp, version); made != isMade {
		return made, err
	}
	if err := l.checkBase(before, info); err != nil {
		return mayBeMade, err // keep the version: others may have continued from it
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

// origin creates the file that the first version follows, and then looks again: a process that sees
// it looks no further back.
func (f file) origin(base state) (disk.Info, error) {
	l, path := f.ledger, layout.OriginOf(f.path)
	if err := l.fs.Publish(path, nil); err != nil {
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

// linkNew gives the file at old the name new. It returns errLost if another file has the name, or
// old is gone. A network may also have sent the request twice, the second time in vain.
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

// settle repairs, under the lock, what a killed edit or another way of committing has left: a
// missing hint, an extra version, or an archive without the copy. young is a file that was written
// just now.
func (f file) settle(s state, young string) (state, error) {
	switch {
	case s.over:
		return f.settleOver(s, young)
	case s.version != none && f.ledger.fs.Exists(f.path):
		return s, nil
	case s.version != none:
		return s, f.makeHint(s)
	}

	revision, err := revisionOf(s.data)
	if err != nil {
		return s, nil // decoding it will return the error
	}

	s.version = revision
	_, err = f.ledger.linkNew(f.path, f.version(revision))
	return s, err
}

// settleOver is settle for a file that is over and therefore gone.
func (f file) settleOver(s state, young string) (state, error) {
	s.exists, s.data = false, nil
	now, err := f.ledger.fs.Lstat(young)
	if err != nil || !f.ledger.fs.Exists(f.path) && now.ModTime.Sub(s.info.ModTime) > keepVersion {
		return s, err // its copy may have been pruned
	}
	return s, f.finishArchive(s)
}

// makeHint makes a version the hint, but not another file that has got its name in the meantime.
func (f file) makeHint(s state) error {
	l, temp := f.ledger, layout.TempOf(f.path)
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

	return errors.Join(err, l.fs.RemoveIfThere(temp))
}

// archiveVersion creates the version after s that means that the file is over, and then puts s into
// the archive.
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

// finishArchive continues where an edit that archived the file may have been killed: it puts a copy
// into the archive, unless there is one as new. The hint is removed last.
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

		err = f.ledger.fs.Link(f.version(s.version), f.copies.Path(next))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// newestRevision returns the revision and number of the newest copy in the archive, or number 0 if
// there is none.
func (f file) newestRevision() (revision int64, newest int, err error) {
	newest, err = f.newestCopy()
	if err != nil || newest == 0 {
		return 0, 0, err
	}

	data, _, err := f.ledger.fs.ReadFile(f.copies.Path(newest))
	if err == nil {
		revision, err = revisionOf(data)
	}
	return revision, newest, err
}

// removeHint removes the hint of a file, once its copy in the archive survives a power cut: without
// a hint no one makes another copy.
func (f file) removeHint() error {
	if err := f.ledger.fs.SyncDir(f.ledger.ArchiveDir()); err != nil {
		return err
	}
	return f.ledger.fs.RemoveIfThere(f.path)
}

// pruneOver removes what hosts remember about a file that is over, and prunes its versions. The
// version that means over stays as long as the copy in the archive, so that a new beginning follows
// it.
func (f file) pruneOver(young string) error {
	l, keep := f.ledger, 0
	if f.copies != (layout.Copies{}) {
		switch _, err := l.fs.Lstat(f.copies.Path(1)); { // of all copies it goes last
		case err == nil:
			keep = 1
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}

	dir, base := filepath.Split(f.path)
	names, err := l.fs.Entries(dir)
	for _, name := range names {
		if layout.IsSightings(name, base) {
			err = errors.Join(err, l.fs.RemoveIfThere(filepath.Join(dir, name)))
		}
	}

	return errors.Join(err, f.prune(keep, young))
}

// prune removes versions of the file older than an hour, in ascending order. It keeps the newest
// keep versions whatever their age. So the existence of a version proves that no later one was
// removed. young is a file that was written just now, which shows the clock of the file system.
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

	old := []string{layout.OriginOf(f.path)}
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

		if err := l.fs.RemoveIfThere(path); err != nil {
			return err
		}
	}

	return nil
}
