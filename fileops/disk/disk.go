// Package disk is the file system that package fileops works on: FS is every system call that it makes, and
// OS is the operating system's. Package simfs has another one, in memory.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// ErrBusy means that another process held the lock all the time that was allowed for waiting.
var ErrBusy = errors.New("another process holds the lock")

// CutUnit divides what File.Cut removes: file systems cut whole blocks, none larger than this.
const CutUnit = 64 << 10

// FS is every system call that fileops makes, so that the same code runs on an operating system and on a simulated one
// that crashes, loses power and fills its disk. Errors are those of package io/fs (or wrap them).
type FS interface {
	// Within returns the file system for one ledger, in the directory base. Paths below base are reached through open
	// directories, one name at a time, none of which may be a symbolic link, and each of which admit must accept: its error is
	// that of the call.
	Within(base string, admit func(path string, dir Info) error) FS

	// Refresh has directories below base that are open already looked at by name again, each at its next use. An edit or a
	// reader works in the directories that it found; the next one finds what is there by then.
	Refresh()

	// Lock opens path for reading and writing, creating it with mode create unless that is 0, and locks it exclusively.
	// While somebody else has the lock it waits for expired to be closed and then returns ErrBusy; at once if expired is
	// nil. A lock that comes later than that is released.
	Lock(path string, create fs.FileMode, expired <-chan struct{}) (Lock, error)

	// Open opens a file or directory for reading. None of the methods here follows path if it is a symbolic link, unless it
	// says so.
	Open(path string) (File, error)

	// Create opens a new file for writing. It fails with fs.ErrExist if there is one.
	Create(path string, mode fs.FileMode) (File, error)

	// OpenAppend opens an existing file for reading, and for writing at its end.
	OpenAppend(path string) (File, error)

	// Lstat describes path.
	Lstat(path string) (Info, error)

	// Stat describes what path is or points to.
	Stat(path string) (Info, error)

	// ReadDir returns the names in a directory, in any order. It follows path only outside base.
	ReadDir(path string) ([]string, error)

	// Mkdir creates one directory. It fails with fs.ErrExist if the name is taken.
	Mkdir(path string, mode fs.FileMode) error

	// Link gives a file a second name. It fails with fs.ErrExist if that is taken.
	Link(old, new string) error

	// Replace renames a file, replacing what has the new name.
	Replace(old, new string) error

	// Move renames a file. It fails with fs.ErrExist if the new name is taken.
	Move(old, new string) error

	// Remove removes a file or an empty directory.
	Remove(path string) error

	// OpenRoot opens a directory, which path may reach through symbolic links.
	OpenRoot(path string) (Root, error)

	// Network returns the name of the file system that path is on, if more than one host may use it at a time, else "".
	Network(path string) (string, error)

	// Resolve returns path without the symbolic links in it.
	Resolve(path string) (string, error)

	// Euid returns the effective user id, -1 where there is none.
	Euid() int
}

// File is an open file or directory.
type File interface {
	Read(p []byte) (int, error)
	ReadAt(p []byte, off int64) (int, error) // as io.ReaderAt
	Write(p []byte) (int, error)
	Stat() (Info, error)
	Chmod(mode fs.FileMode) error
	Truncate(size int64) error

	// Cut removes the first size bytes, a multiple of CutUnit and less than all: of what others append
	// at the same time nothing is lost. It returns errors.ErrUnsupported, and nothing has changed, where
	// the file system cannot do that.
	Cut(size int64) error

	Sync() error
	Close() error
}

// Lock is a lock file that is held.
type Lock interface {
	// Stat describes the file that is locked, whatever its path names by now.
	Stat() (Info, error)

	// Unlock releases the lock and closes the file.
	Unlock() error
}

// Root is an open directory. A name given to its methods may contain slashes and lead through symbolic links, but never
// out of the directory: that is an error. The last element is followed only by OpenRoot.
type Root interface {
	OpenRoot(name string) (Root, error)
	Lstat(name string) (Info, error)
	Rename(old, new string) error
	Remove(name string) error

	// Stat describes the directory itself, including the mount it is on.
	Stat() (Info, error)

	// ReadDir returns the names in the directory, in any order.
	ReadDir() ([]string, error)

	Close() error
}

// Info describes a file.
type Info struct {
	Size    int64
	Mode    fs.FileMode
	ModTime time.Time
	UID     int
	ID      FileID
	Mount   uint64 // only from Root.Stat; 0 where the operating system has no such number
}

// Same reports whether i and other describe the same state of the same file. The inode alone would not tell: that of a file that
// is gone is used again.
func (i Info) Same(other Info) bool {
	return i.ID == other.ID && i.Size == other.Size && i.ModTime.Equal(other.ModTime)
}

// String gives what Same compares.
func (i Info) String() string {
	return fmt.Sprintf("inode %d, %d bytes, of %s", i.ID.Inode, i.Size, i.ModTime.UTC().Format(time.RFC3339Nano))
}

// FileID tells files apart, whatever their names.
type FileID struct{ Device, Inode uint64 }
