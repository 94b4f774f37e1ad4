package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// LongestPause is how long a process that has lost its lock may be paused and still commit: no
// client of a file system may be paused for longer, or trust its cache for longer.
const LongestPause = time.Hour

// The limits of prune.
const (
	keepVersions = 1000
	pruneEvery   = 64 // number of commits
)

// An edit that commits by link makes these system calls (see fileops/edit.go for the others, and
// spec §17). The directory is opened before a read so that a client of a network looks at it anew.
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

// A linking gives what was written the name of the next version, which only one edit can do.
type linking struct{ files }

// Link returns a Store that commits by link (spec §17). On its file system a lock is only a lease.
// fs and leftover are as for Rename.
func Link(fs *trust.FS, leftover func(error)) Store { return linking{files{fs, leftover}} }

func (linking) Leased() bool      { return true }
func (linking) Consecutive() bool { return true }

func (s linking) of(f File) versions { return versions{s.files, f} }

func (s linking) Edit(f File) Replacement {
	return Replacement{File: f, store: s, files: s.files}
}

func (s linking) Read(f File) (State, error) { return s.of(f).latest() }

func (s linking) Present(f File) error {
	_, err := s.fs.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = s.Read(f)
	}
	return err
}

func (s linking) base(f File, young string) (base State, err error) {
	v := s.of(f)
	base, err = v.latest()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		base = State{}
		base.copies, err = v.newestCopy()
	case err == nil:
		base, err = v.settle(base, young)
	}
	return base, err
}

// commit makes what was written version n of the file, its revision, which follows the base. It
// returns ErrLost if another edit has made that version.
//
// The linked name decides. But if the version it follows is gone, other versions with that name may
// be gone as well, and then a free name proves nothing. The hint is renamed afterwards, which may
// happen late, or never.
func (s linking) commit(r *Replacement, next Contents) (made Outcome, err error) {
	v, n := s.of(r.File), next.Revision
	version, before := v.version(n), v.version(r.Base.Version)
	info := r.Base.info
	switch follows := r.Base.Exists || r.Base.Over; {
	case follows && n != r.Base.Version+1:
		return NotMade, fmt.Errorf("%s: revision %d does not follow %d", r.Path, n, r.Base.Version)
	case !follows:
		before = layout.OriginOf(r.Path)
		if info, err = v.origin(r.Base); err != nil {
			return NotMade, err
		}
	}

	if made, err = s.linkNew(r.temp, version); made != Made {
		return made, err
	}
	if err := s.checkBase(before, info); err != nil {
		return MayBeMade, err // keep the version: others may have continued from it
	}

	if err := s.fs.Replace(r.temp, r.Path); err != nil {
		s.leftover(fmt.Errorf("rename to %s: %w", r.Path, err))
		r.Remove()
	}

	r.temp = ""
	if n%pruneEvery == 0 {
		s.leftover(v.prune(keepVersions, version))
	}

	r.Base = State{Exists: true, Version: n}
	r.Base.info, err = s.fs.Lstat(version)
	return Made, err
}

func (s linking) archive(f File, base State) (Outcome, error) { return s.of(f).archive(base) }

func (s linking) prune(f File, young string) error { return s.of(f).pruneOver(young) }

// origin creates the file that the first version follows, and then looks again: a process that sees
// it looks no further back.
func (f versions) origin(base State) (disk.Info, error) {
	path := layout.OriginOf(f.Path)
	if err := f.fs.Publish(path, nil); err != nil {
		return disk.Info{}, err
	}

	info, err := f.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrLost
	}
	if err != nil {
		return disk.Info{}, err
	}

	_, err = f.latest()
	if err == nil {
		return disk.Info{}, ErrLost
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return disk.Info{}, err
	}

	copies, err := f.newestCopy()
	if err == nil && copies != base.copies {
		err = ErrLost
	}

	return info, err
}

// linkNew gives the file at old the name new. It returns ErrLost if another file has the name, or
// old is gone. A network may also have sent the request twice, the second time in vain.
func (f files) linkNew(old, new string) (Outcome, error) {
	err := f.fs.Link(old, new)
	if err == nil {
		return Made, nil
	}

	info, lookErr := f.fs.Lstat(old)
	if errors.Is(lookErr, fs.ErrNotExist) {
		return NotMade, ErrLost
	}

	same := false
	if lookErr == nil {
		same, lookErr = f.isSameFile(new, info)
	}

	switch {
	case same:
		return Made, nil
	case lookErr != nil:
		return outcomeAfterError(false, err, lookErr)
	case errors.Is(err, fs.ErrExist):
		err = ErrLost
	}

	return NotMade, err
}

// settle repairs, under the lock, what a killed edit or another way of committing has left: a
// missing hint, an extra version, or an archive without the copy. young is a file that was written
// just now.
func (f versions) settle(s State, young string) (State, error) {
	switch {
	case s.Over:
		return f.settleOver(s, young)
	case s.Version != none && f.fs.Exists(f.Path):
		return s, nil
	case s.Version != none:
		return s, f.makeHint(s)
	}

	revision, err := revisionOf(s.Data)
	if err != nil {
		return s, nil // decoding it will return the error
	}

	s.Version = revision
	_, err = f.linkNew(f.Path, f.version(revision))
	return s, err
}

// settleOver is settle for a file that is over and therefore gone.
func (f versions) settleOver(s State, young string) (State, error) {
	s.Exists, s.Data = false, nil
	now, err := f.fs.Lstat(young)
	if err != nil || !f.fs.Exists(f.Path) && now.ModTime.Sub(s.info.ModTime) > LongestPause {
		return s, err // its copy may have been pruned
	}
	return s, f.finishArchive(s)
}

// makeHint makes a version the hint, but not another file that has got its name in the meantime.
func (f versions) makeHint(s State) error {
	temp := layout.TempOf(f.Path)
	if _, err := f.linkNew(f.version(s.Version), temp); err != nil {
		return err
	}

	same, err := f.isSameFile(temp, s.info)
	if err == nil && !same {
		err = ErrLost
	}

	if err == nil {
		if err = f.fs.Link(temp, f.Path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}

	return errors.Join(err, f.fs.RemoveIfThere(temp))
}

// archive creates the version after s that means that the file is over, and then puts s into
// the archive.
func (f versions) archive(s State) (Outcome, error) {
	end := f.version(s.Version + 1)
	if made, err := f.linkNew(f.version(s.Version), end); made != Made {
		return made, err
	}
	if err := f.checkBase(end, s.info); err != nil {
		return MayBeMade, err
	}

	s.Version, s.Over = s.Version+1, true
	return Made, f.finishArchive(s)
}

// finishArchive continues where an edit that archived the file may have been killed: it puts a copy
// into the archive, unless there is one as new. The hint is removed last.
func (f versions) finishArchive(s State) error {
	for {
		revision, newest, err := f.newestRevision()
		if err != nil {
			return err
		}
		if newest > 0 && revision >= s.Version-1 {
			return f.removeHint()
		}

		next, err := next(f.fs, f.Copies)
		if err != nil {
			return err
		}

		err = f.fs.Link(f.version(s.Version), f.Copies.Path(next))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// newestRevision returns the revision and number of the newest copy in the archive, or number 0 if
// there is none.
func (f versions) newestRevision() (revision int64, newest int, err error) {
	newest, err = f.newestCopy()
	if err != nil || newest == 0 {
		return 0, 0, err
	}

	data, _, err := f.fs.ReadFile(f.Copies.Path(newest))
	if err == nil {
		revision, err = revisionOf(data)
	}
	return revision, newest, err
}

// removeHint removes the hint of a file, once its copy in the archive survives a power cut: without
// a hint no one makes another copy.
func (f versions) removeHint() error {
	if err := f.fs.SyncDir(f.Copies.Dir()); err != nil {
		return err
	}
	return f.fs.RemoveIfThere(f.Path)
}

// pruneOver removes what hosts remember about a file that is over, and prunes its versions. The
// version that means over stays as long as the copy in the archive, so that a new beginning follows
// it.
func (f versions) pruneOver(young string) error {
	keep := 0
	if f.Copies != (layout.Copies{}) {
		switch _, err := f.fs.Lstat(f.Copies.Path(1)); { // of all copies it goes last
		case err == nil:
			keep = 1
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}

	dir, base := filepath.Split(f.Path)
	names, err := f.fs.Entries(dir)
	for _, name := range names {
		if layout.IsSightings(name, base) {
			err = errors.Join(err, f.fs.RemoveIfThere(filepath.Join(dir, name)))
		}
	}

	return errors.Join(err, f.prune(keep, young))
}

// prune removes versions of the file older than an hour, in ascending order. It keeps the newest
// keep versions whatever their age. So the existence of a version proves that no later one was
// removed. young is a file that was written just now, which shows the clock of the file system.
func (f versions) prune(keep int, young string) error {
	numbers, err := f.versions()
	if err != nil || len(numbers) <= keep && keep > 0 {
		return err
	}

	now, err := f.fs.Lstat(young)
	if err != nil {
		return err
	}

	old := []string{layout.OriginOf(f.Path)}
	for _, n := range numbers[:len(numbers)-keep] {
		old = append(old, f.version(n))
	}

	for _, path := range old {
		info, err := f.fs.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || now.ModTime.Sub(info.ModTime) <= LongestPause:
			return err
		}

		if err := f.fs.RemoveIfThere(path); err != nil {
			return err
		}
	}

	return nil
}
