package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// versions are the versions of one file of a store that commits by link (spec §17): {file}.{N},
// where N is the revision inside. The last one has the state. The file itself is then only a hint
// where to start looking: it may be old or missing. When an operation is archived, the version
// after its last one becomes a second name of that. So a version whose revision is less than its
// number means that the operation is over.
type versions struct {
	files
	File
}

// version returns the path of version n.
func (f versions) version(n int64) string { return layout.VersionOf(f.Path, n) }

// latest follows the versions from the one in the hint, or from the highest one in the directory,
// to the last. It is certainly the last only if the starting one still exists after the end was
// found; otherwise all of them may have been pruned.
func (f versions) latest() (State, error) {
	if err := f.lookAnew(f.Path); err != nil {
		return State{}, err
	}

	start, err := f.readHint()
	hint, hintErr := start, err
	for {
		if err == nil && start.Version != none {
			last, err := f.follow(start)
			if err != nil {
				return State{}, err
			}
			if there, err := f.isSameFile(f.version(start.Version), start.info); there ||
				err != nil {
				return last, err
			}
		}

		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return State{}, err
		}

		start, err = f.highest()
		if errors.Is(err, fs.ErrNotExist) {
			return f.bare(hint, hintErr)
		}
	}
}

// readHint returns the version that the hint is, or was made as. Its version is none if the hint is
// invalid.
func (f versions) readHint() (State, error) {
	data, info, err := f.fs.ReadFile(f.Path)
	if err != nil {
		return State{}, err
	}

	revision, err := revisionOf(data)
	if err != nil {
		revision = none
	}
	return State{Exists: true, Data: data, Version: revision, info: info}, nil
}

// readVersion returns version n.
func (f versions) readVersion(n int64) (State, error) {
	data, info, err := f.fs.ReadFile(f.version(n))
	if err != nil {
		return State{}, err
	}

	revision, err := revisionOf(data)
	if err == nil && revision != n && revision != n-1 {
		err = fmt.Errorf("/revision: %d differs from the name of the file", revision)
	}
	if err != nil {
		return State{}, fmt.Errorf("%s: %w: %w", f.version(n), wire.ErrCorrupt, err)
	}
	return State{Exists: true, Data: data, Version: n, info: info, Over: revision == n-1}, nil
}

// follow returns the last version from s on. A version that says that the operation is over may be
// followed by one that started over.
func (f versions) follow(s State) (State, error) {
	for {
		next, err := f.readVersion(s.Version + 1)
		if errors.Is(err, fs.ErrNotExist) {
			return s, nil
		}
		if err != nil {
			return State{}, err
		}
		s = next
	}
}

// isSameFile reports whether the file at path is the one that info describes.
func (f files) isSameFile(path string, info disk.Info) (bool, error) {
	now, err := f.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && now.Same(info), err
}

// checkBase returns ErrTooLate, with a description, unless the file at path is the one that info
// describes. One look that finds it is proof. One that does not may come from a client's cache, so
// the second look follows a new look at the directory.
func (f files) checkBase(path string, info disk.Info) error {
	now, err := f.fs.Lstat(path)
	if err == nil && now.Same(info) {
		return nil
	}
	if err := f.lookAnew(path); err != nil {
		return err
	}

	now, err = f.fs.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is gone", ErrTooLate, path)
	case err == nil && !now.Same(info):
		return fmt.Errorf("%w: %s is %v, and was %v", ErrTooLate, path, now, info)
	}

	return err
}

// lookAnew opens the directory of path, which makes a network client look at it again. Otherwise
// the client's memory of a missing name could keep it behind the others.
func (f files) lookAnew(path string) error {
	return f.fs.WithFile(filepath.Dir(path), func(disk.File) error { return nil })
}

// highest returns the highest version, or fs.ErrNotExist. It ignores a version left by an edit that
// came too late: a version is valid if it follows another, if it is the first and the archive is
// empty, or if it says that the operation is over.
func (f versions) highest() (State, error) {
	versions, err := f.versions()
	if err != nil {
		return State{}, err
	}

	for i, n := range slices.Backward(versions) {
		s, err := f.readVersion(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || s.Over || i > 0 && versions[i-1] == n-1 {
			return s, err
		}
		if copies, err := f.newestCopy(); err != nil || n <= firstVersion && copies == 0 {
			return s, err
		}
	}

	return State{}, fs.ErrNotExist
}

// firstVersion is the highest number that the first version of a file can have: groups begin with
// revision 0 or 1.
const firstVersion = 1

// bare returns the state of a file without versions: the hint, if it was put there by hand or the
// ledger used to commit by rename. The state does not exist if it is older than the copy in the
// archive, because then an edit that was paused for long has renamed it.
func (f versions) bare(hint State, hintErr error) (State, error) {
	if hintErr != nil {
		return State{}, hintErr
	}

	copies, err := f.newestCopy()
	if err != nil {
		return State{}, err
	}

	if copies > 0 {
		data, _, err := f.fs.ReadFile(f.Copies.Path(copies))
		if err != nil {
			return State{}, err
		}
		archived, err := revisionOf(data)
		if err == nil && hint.Version != none && hint.Version <= archived {
			return State{}, fs.ErrNotExist
		}
	}

	hint.Version = none
	return hint, nil
}

// newestCopy returns the number of the newest copy of the file in the archive, or 0 if there is
// none.
func (f versions) newestCopy() (int, error) { return Newest(f.fs, f.Copies) }

// versions returns the numbers of all versions of the file, ascending.
func (f versions) versions() ([]int64, error) {
	names, err := f.fs.Entries(filepath.Dir(f.Path))

	var numbers []int64
	for _, name := range names {
		if n, ok := layout.Version(name, filepath.Base(f.Path)); ok {
			numbers = append(numbers, n)
		}
	}

	slices.Sort(numbers)
	return numbers, err
}

// revisionOf returns the revision in a file, or 0 if it has none. It reads no further.
func revisionOf(data []byte) (revision int64, err error) {
	r := wire.NewReader(trust.AsString(data), 0)
	found := false
	r.Object(func(name string) {
		if name != "revision" {
			r.Value()
			return
		}

		if revision = r.Int(0); revision > layout.MaxRevision {
			r.Fail(wire.ErrCorrupt, "out of range")
		}

		found = !r.Failed()
		r.Fail(nil, "enough")
	})

	if found {
		return revision, nil
	}

	return 0, r.Err()
}
