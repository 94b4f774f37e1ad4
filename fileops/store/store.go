// Package store keeps files that edits replace completely. There are two ways to do that: [Rename],
// and [Link] for a file system that several hosts use. An edit is a [Replacement] of each of its
// files, whose lock it holds: it creates a temporary file, reads, writes, and commits or archives.
package store

import (
	"errors"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Store reads files and lets edits replace them. Its methods need no lock.
type Store interface {
	// Read returns the state of a file. Its errors are fs.ErrNotExist if there is none,
	// ErrPermission if a file is not safe to trust, and with Link wire.ErrCorrupt if a version is
	// not that revision.
	Read(f File) (State, error)

	// Present returns fs.ErrNotExist if a file has no state. It may read less than Read.
	Present(f File) error

	// Edit returns a replacement of a file, which creates and reads nothing yet.
	Edit(f File) Replacement

	// Leased reports whether several hosts use the files, so that a lock is only a lease: its
	// holder may lose it without noticing, and a commit decides who came first.
	Leased() bool

	// Consecutive reports whether the revision of an edit must be the one after the last, also if
	// that is in the archive. Otherwise a higher one will do, and a file may go without a copy.
	Consecutive() bool

	base(f File, young string) (State, error)
	commit(r *Replacement, next Contents) (Outcome, error)
	archive(f File, base State) (Outcome, error)
	prune(f File, young string) error
}

// A File names a file that edits replace completely.
type File struct {
	Path   string
	Copies layout.Copies // the archive names for when it is over; the zero value if it never is
}

// A State is the current content of a file.
type State struct {
	Exists  bool
	Data    []byte
	Version int64     // with Link, the revision that the next one follows
	Over    bool      // with Link: it was archived, and Data is that of the copy
	info    disk.Info // of the version, or of the file
	copies  int       // if nothing exists: the number of the newest copy in the archive
}

// none is the Version of a state that is in no version.
const none = -1

// An Outcome says whether others see an edit. It is independent of the error returned with it.
type Outcome int

// The outcomes of an edit.
const (
	NotMade   Outcome = iota
	MayBeMade         // it cannot be known
	Made
)

// ErrLost means that another edit came first: the lock was a lease, and another process has it now.
// It is a disk.ErrBusy.
var ErrLost error = lostError{}

// A lostError is disk.ErrBusy with a reason. It is a type because fmt.Errorf would run, and
// allocate, when a command starts.
type lostError struct{}

func (lostError) Error() string { return disk.ErrBusy.Error() + " by now, and has made an edit" }
func (lostError) Unwrap() error { return disk.ErrBusy }

// ErrTooLate means that an edit was paused for so long between its last two system calls that it
// cannot know any more whether it came first.
var ErrTooLate = errors.New("it was paused for too long to know")

// files are what the stores of a ledger have in common.
type files struct {
	fs       *trust.FS
	leftover func(error)
}
