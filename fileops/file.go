package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A state is what a file that edits replace says.
//
// A ledger that commits by rename has it in the file itself. One that commits by link has it in the last version of the file,
// {file}.{N} with the highest N, where N is the revision inside. The file itself is but a hint where to begin looking: it may
// be older, and missing (spec §17). When an operation is archived, the version after its last one becomes a second name of that:
// so one whose revision is less than its number says that the operation is over.
type state struct {
	exists  bool
	data    []byte
	version int64     // none: it is in no version
	info    disk.Info // of the version, or of the file
	over    bool      // the operation has been archived, which is what this version says
	copies  int       // if nothing exists: the number of the operation's newest copy in the archive
}

// none is the number of no version.
const none = -1

// errLost means that another edit came first: the lock was a lease, and somebody else has it by now.
var errLost = fmt.Errorf("%w by now, and has made an edit", ErrBusy)

// errOvertaken is errLost in an edit that has made a commit before, and cannot begin again.
var errOvertaken = errors.New("another process has the lock by now, and has made an edit")

// A file is one that edits replace as a whole.
type file struct {
	ledger *Ledger
	path   string
	copies copies // where it goes when it is over; the zero value if it never is
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
	data, info, err := f.ledger.readFile(f.path)
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
func (f file) version(n int64) string { return versionOf(f.path, n) }

// latest goes from the version that the hint is, or from the highest one in the directory, to the last. That it was the last
// is certain only if the one to begin with is still there after the end was found: else all may have been pruned meanwhile.
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
			if there, err := f.ledger.isSameFile(f.version(start.version), start.info); there || err != nil {
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

// readHint returns the version that the hint is, or was made as: none if it makes no sense.
func (f file) readHint() (state, error) {
	data, info, err := f.ledger.readFile(f.path)
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
	data, info, err := f.ledger.readFile(f.version(n))
	if err != nil {
		return state{}, err
	}
	revision, err := revisionOf(data)
	if err == nil && revision != n && revision != n-1 {
		err = fmt.Errorf("/revision: %d differs from the name of the file", revision)
	}
	if err != nil {
		return state{}, fmt.Errorf("%s: %w: %w", f.version(n), protocol.ErrCorrupt, err)
	}
	return state{exists: true, data: data, version: n, info: info, over: revision == n-1}, nil
}

// follow returns the last version from s on. What says that the operation is over may be followed by one that began anew.
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

// checkBase returns an error unless the file at path is the one that info describes: errTooLate, and what it is, if it is another
// file or gone. One look that finds it is proof. One that does not may be a client's memory, so that the directory is looked at
// anew before the second.
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

// lookAnew opens the directory that path is in, which has a client of a network look at it anew, whom its memory of a name that
// was missing would keep behind the others.
func (l *Ledger) lookAnew(path string) error {
	return l.withFile(filepath.Dir(path), func(disk.File) error { return nil })
}

// highest returns the highest version that is not what an edit left behind which came too late: it follows another, is the
// first, and nothing is in the archive, or says that the operation is over. It returns fs.ErrNotExist if there is none.
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

// firstVersion is the highest number that the first version of a file can have: groups begin with revision 0 or 1.
const firstVersion = 1

// bare returns the state of a file without versions: the hint, if somebody has put it there, or the ledger used to commit by
// rename. It does not exist if it is older than what is in the archive: then an edit has renamed it that was paused for long.
func (f file) bare(hint state, hintErr error) (state, error) {
	if hintErr != nil {
		return state{}, hintErr
	}

	copies, err := f.newestCopy()
	if err != nil {
		return state{}, err
	}
	if copies > 0 {
		data, _, err := f.ledger.readFile(f.copies.path(copies))
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

// newestCopy returns the number of the newest copy of the file in the archive, 0 if there is none.
func (f file) newestCopy() (int, error) { return f.ledger.newest(f.copies) }

// versions returns the numbers of all versions of the file, ascending.
func (f file) versions() ([]int64, error) {
	names, err := f.ledger.readDir(filepath.Dir(f.path))

	var numbers []int64
	for _, name := range names {
		if of, n, ok := cutVersion(name); ok && of == filepath.Base(f.path) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// revisionOf returns the revision in a file, 0 if it has none. It reads no further.
func revisionOf(data []byte) (revision int64, err error) {
	r := wire.NewReader(asString(data), 0)
	found := false
	r.Object(func(name string) {
		if name != "revision" {
			r.Value()
			return
		}
		if revision = r.Int(0); revision > maxRevision {
			r.Fail(protocol.ErrCorrupt, "out of range")
		}
		found = !r.Failed()
		r.Fail(nil, "enough")
	})
	if found {
		return revision, nil
	}
	return 0, r.Err()
}

// errTooLate means that an edit was paused for so long, between its last two system calls, that nothing tells any more whether
// it came first.
var errTooLate = errors.New("it was paused for too long to know")
