package fileops

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

// A state is the current content of a file that edits replace.
//
// On a ledger that commits by rename it is in the file itself. On one that commits by link it is in
// the last version of the file, {file}.{N} with the highest N, where N is the revision inside. The
// file itself is then only a hint where to start looking: it may be old or missing (spec §17). When
// an operation is archived, the version after its last one becomes a second name of that. So a
// version whose revision is less than its number means that the operation is over.
type state struct {
	exists  bool
	data    []byte
	version int64     // none if it is in no version
	info    disk.Info // of the version, or of the file
	over    bool      // this version says that the operation has been archived
	copies  int       // if nothing exists: the number of the operation's newest copy in the archive
}

// none is the version number of a state that is in no version.
const none = -1

// errLost means that another edit came first: the lock was a lease, and another process has it now.
var errLost error = lostError{}

// A lostError is ErrBusy with a reason. It is a type because fmt.Errorf would run, and allocate,
// when a command starts.
type lostError struct{}

func (lostError) Error() string { return ErrBusy.Error() + " by now, and has made an edit" }
func (lostError) Unwrap() error { return ErrBusy }

// errRemoved is errLost because somebody has removed or replaced the lock file.
var errRemoved error = removedError{}

type removedError struct{}

func (removedError) Error() string {
	return "the lock file was removed during the edit: no program may remove it"
}
func (removedError) Unwrap() error { return errLost }

// errOvertaken is errLost in an edit that has already committed something and cannot start again.
var errOvertaken = errors.New("another process has the lock by now, and has made an edit")

// A file is a file that edits replace completely.
type file struct {
	ledger *Ledger
	path   string
	copies layout.Copies // the archive names for when it is over; the zero value if it never is
}

// files returns the files of d.
func (l *Ledger) files(d document) []file {
	files := make([]file, len(d.paths))
	for i, path := range d.paths {
		files[i] = file{l, path, d.copies}
	}
	return files
}

// current returns the state of the file. It returns fs.ErrNotExist if there is none.
func (f file) current() (state, error) {
	if f.ledger.linked() {
		return f.latest()
	}
	return f.only()
}

// only returns the state of a file without versions.
func (f file) only() (state, error) {
	data, info, err := f.ledger.fs.ReadFile(f.path)
	return state{exists: err == nil, data: data, version: none, info: info}, err
}

// present returns fs.ErrNotExist if the file has no state.
func (f file) present() error {
	_, err := f.ledger.fs.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) && f.ledger.linked() {
		_, err = f.current()
	}
	return err
}

// version returns the path of version n.
func (f file) version(n int64) string { return layout.VersionOf(f.path, n) }

// latest follows the versions from the one in the hint, or from the highest one in the directory,
// to the last. It is certainly the last only if the starting one still exists after the end was
// found; otherwise all of them may have been pruned.
func (f file) latest() (state, error) {
	if err := f.ledger.lookAnew(f.path); err != nil {
		return state{}, err
	}

	start, err := f.readHint()
	hint, hintErr := start, err
	for {
		if err == nil && start.version != none {
			last, err := f.follow(start)
			if err != nil {
				return state{}, err
			}
			if there, err := f.ledger.isSameFile(f.version(start.version), start.info); there ||
				err != nil {
				return last, err
			}
		}

		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return state{}, err
		}

		start, err = f.highest()
		if errors.Is(err, fs.ErrNotExist) {
			return f.bare(hint, hintErr)
		}
	}
}

// readHint returns the version that the hint is, or was made as. Its version is none if the hint is
// invalid.
func (f file) readHint() (state, error) {
	data, info, err := f.ledger.fs.ReadFile(f.path)
	if err != nil {
		return state{}, err
	}

	revision, err := revisionOf(data)
	if err != nil {
		revision = none
	}
	return state{exists: true, data: data, version: revision, info: info}, nil
}

// readVersion returns version n.
func (f file) readVersion(n int64) (state, error) {
	data, info, err := f.ledger.fs.ReadFile(f.version(n))
	if err != nil {
		return state{}, err
	}

	revision, err := revisionOf(data)
	if err == nil && revision != n && revision != n-1 {
		err = fmt.Errorf("/revision: %d differs from the name of the file", revision)
	}
	if err != nil {
		return state{}, fmt.Errorf("%s: %w: %w", f.version(n), wire.ErrCorrupt, err)
	}
	return state{exists: true, data: data, version: n, info: info, over: revision == n-1}, nil
}

// follow returns the last version from s on. A version that says that the operation is over may be
// followed by one that started over.
func (f file) follow(s state) (state, error) {
	for {
		next, err := f.readVersion(s.version + 1)
		if errors.Is(err, fs.ErrNotExist) {
			return s, nil
		}
		if err != nil {
			return state{}, err
		}
		s = next
	}
}

// isSameFile reports whether the file at path is the one that info describes.
func (l *Ledger) isSameFile(path string, info disk.Info) (bool, error) {
	now, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && now.Same(info), err
}

// checkBase returns errTooLate, with a description, unless the file at path is the one that info
// describes. One look that finds it is proof. One that does not may come from a client's cache, so
// the second look follows a new look at the directory.
func (l *Ledger) checkBase(path string, info disk.Info) error {
	now, err := l.fs.Lstat(path)
	if err == nil && now.Same(info) {
		return nil
	}
	if err := l.lookAnew(path); err != nil {
		return err
	}

	now, err = l.fs.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is gone", errTooLate, path)
	case err == nil && !now.Same(info):
		return fmt.Errorf("%w: %s is %v, and was %v", errTooLate, path, now, info)
	}

	return err
}

// lookAnew opens the directory of path, which makes a network client look at it again. Otherwise
// the client's memory of a missing name could keep it behind the others.
func (l *Ledger) lookAnew(path string) error {
	return l.fs.WithFile(filepath.Dir(path), func(disk.File) error { return nil })
}

// highest returns the highest version, or fs.ErrNotExist. It ignores a version left by an edit that
// came too late: a version is valid if it follows another, if it is the first and the archive is
// empty, or if it says that the operation is over.
func (f file) highest() (state, error) {
	versions, err := f.versions()
	if err != nil {
		return state{}, err
	}

	for i, n := range slices.Backward(versions) {
		s, err := f.readVersion(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || s.over || i > 0 && versions[i-1] == n-1 {
			return s, err
		}
		if copies, err := f.newestCopy(); err != nil || n <= firstVersion && copies == 0 {
			return s, err
		}
	}

	return state{}, fs.ErrNotExist
}

// firstVersion is the highest number that the first version of a file can have: groups begin with
// revision 0 or 1.
const firstVersion = 1

// bare returns the state of a file without versions: the hint, if it was put there by hand or the
// ledger used to commit by rename. The state does not exist if it is older than the copy in the
// archive, because then an edit that was paused for long has renamed it.
func (f file) bare(hint state, hintErr error) (state, error) {
	if hintErr != nil {
		return state{}, hintErr
	}

	copies, err := f.newestCopy()
	if err != nil {
		return state{}, err
	}

	if copies > 0 {
		data, _, err := f.ledger.fs.ReadFile(f.copies.Path(copies))
		if err != nil {
			return state{}, err
		}
		archived, err := revisionOf(data)
		if err == nil && hint.version != none && hint.version <= archived {
			return state{}, fs.ErrNotExist
		}
	}

	hint.version = none
	return hint, nil
}

// newestCopy returns the number of the newest copy of the file in the archive, or 0 if there is
// none.
func (f file) newestCopy() (int, error) { return f.ledger.newest(f.copies) }

// versions returns the numbers of all versions of the file, ascending.
func (f file) versions() ([]int64, error) {
	names, err := f.ledger.fs.Entries(filepath.Dir(f.path))

	var numbers []int64
	for _, name := range names {
		if n, ok := layout.Version(name, filepath.Base(f.path)); ok {
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

// errTooLate means that an edit was paused for so long between its last two system calls that it
// cannot know any more whether it came first.
var errTooLate = errors.New("it was paused for too long to know")

// A document is the names of the files that are kept together under one lock.
type document struct {
	id      string
	dir     string        // the directory of its files
	lock    string        // its lock file
	paths   []string      // its files, in the order of a commit
	copies  layout.Copies // the archive names for when it is over; the zero value if it never is
	calls   bool          // its calls have temporary directories, in tmp/{id}
	missing error         // the error if it does not exist
}
