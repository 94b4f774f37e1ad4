// Package disk is the file system below package fileops: [FS] is every system call that fileops
// makes, and [OS] makes them on the operating system. Package simfs has an FS in memory.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// ErrBusy means that another process held the lock for as long as the caller could wait.
var ErrBusy = errors.New("another process holds the lock")

// CutUnit is the unit of sizes for File.Cut. File systems cut whole blocks, and none has larger
// ones.
const CutUnit = 64 << 10

// Sync is how much of an edit is on disk when it ends. In every case others see all of the edit or
// nothing.
type Sync int

const (
	SyncDefault Sync = iota // SyncFile for heartbeats, else SyncFull
	SyncNone                // a power cut may leave the file empty
	SyncFile                // a power cut may undo the edit
	SyncFull                // a power cut changes nothing
)

// FS is every system call that fileops makes. The same code therefore runs on an operating system
// and on a simulated one that crashes, loses power and runs out of disk. Errors are those of
// package io/fs, or wrap them.
type FS interface {
	// Within returns the file system for one ledger, in the directory base. It reaches paths below
	// base through open directories, one name at a time. None of them may be a symbolic link, and
	// admit must accept each; if it does not, the call returns its error.
	Within(base string, admit func(path string, dir Info) error) FS

	// Refresh makes each open directory below base check, at its next use, that its name still
	// leads to it. One edit or read keeps working in the directories that it found; the next one
	// finds what is there by then.
	Refresh()

	// Lock opens path for reading and writing and locks it exclusively. If there is no file, it
	// creates one with mode create, unless create is 0. While another process holds the lock, Lock
	// waits until expired is closed, and then returns ErrBusy; it does not wait if expired is nil.
	// A lock obtained after that is released.
	Lock(path string, create fs.FileMode, expired <-chan struct{}) (Lock, error)

	// Open opens a file or directory for reading. Open and the methods below do not follow path if
	// it is a symbolic link, unless they say so.
	Open(path string) (File, error)

	// Create opens a new file for writing. It fails with fs.ErrExist if there is one.
	Create(path string, mode fs.FileMode) (File, error)

	// CreateUnnamed opens a new file for writing, on the file system of the directory dir. It has no
	// name until File.Link gives it one, and without a name it ends with its last descriptor.
	// CreateUnnamed returns errors.ErrUnsupported where there are no such files.
	CreateUnnamed(dir string, mode fs.FileMode) (File, error)

	// OpenAppend opens an existing file for reading, and for writing at its end.
	OpenAppend(path string) (File, error)

	// OpenHeld opens the regular file that the process pid has open as its stdout, or else as its
	// stderr, for reading and, if that is allowed, for writing at its end. The file needs no name.
	// Only a file that is is opened. OpenHeld returns fs.ErrNotExist if there is none, and where the
	// system does not say.
	OpenHeld(pid int, is func(FileID) bool) (Held, error)

	// Lstat describes path.
	Lstat(path string) (Info, error)

	// Stat describes path, or the file that path points to.
	Stat(path string) (Info, error)

	// Access returns why this user may not use what is at path in the ways of want, or nil: 4 reads,
	// 2 writes, 1 reaches the files in a directory, as in access(2).
	Access(path string, want uint32) error

	// ReadDir returns the names in a directory, in any order. It follows path only outside base.
	ReadDir(path string) ([]string, error)

	// Mkdir creates one directory. It fails with fs.ErrExist if the name is taken.
	Mkdir(path string, mode fs.FileMode) error

	// Link gives a file a second name. It fails with fs.ErrExist if that is taken.
	Link(old, new string) error

	// Replace renames a file. It replaces the file that has the new name, if any.
	Replace(old, new string) error

	// Move renames a file. It fails with fs.ErrExist if the new name is taken.
	Move(old, new string) error

	// Remove removes a file or an empty directory.
	Remove(path string) error

	// OpenRoot opens a directory. It follows symbolic links in path.
	OpenRoot(path string) (Root, error)

	// MountPoint reports whether something is mounted at path, so that nothing can replace it. It
	// returns false where the system does not say.
	MountPoint(path string) (bool, error)

	// Network returns the name of the file system that path is on, if several hosts may use it at
	// once, or else "".
	Network(path string) (string, error)

	// Resolve returns path with all symbolic links resolved.
	Resolve(path string) (string, error)

	// Euid returns the effective user id, or -1 if the system has none.
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

	// Cut removes the first size bytes. size is a multiple of CutUnit and smaller than the file.
	// Bytes that others append at the same time are kept. If the file system cannot cut, it changes
	// nothing and returns errors.ErrUnsupported.
	Cut(size int64) error

	// Punch frees the blocks between two offsets, which are multiples of CutUnit. The size stays, and
	// zeros are read there. If the file system cannot do that, it changes nothing and returns
	// errors.ErrUnsupported.
	Punch(from, to int64) error

	// Hole returns where the first hole begins and ends: the same number twice if there is none, or
	// if the system does not say. A file that ends in a hole has none.
	Hole() (from, to int64, err error)

	// Link gives a file that CreateUnnamed has opened the name path. It fails with fs.ErrExist if
	// that is taken.
	Link(path string) error

	Sync() error
	Close() error
}

// A Held is a file that another process holds open.
type Held interface {
	File

	// Name returns where the file is. Of one that was deleted, it says so.
	Name() string

	// TryLock locks the file exclusively, for a change, until it is closed. It returns ErrBusy if
	// another process has it locked, and why it cannot be changed.
	TryLock() error
}

// Lock is a lock file that this process has locked.
type Lock interface {
	// Stat describes the locked file, even if its path leads to another file by now.
	Stat() (Info, error)

	// Unlock releases the lock and closes the file.
	Unlock() error
}

// Root is an open directory. A name given to its methods may contain slashes and symbolic links,
// but must not lead out of the directory: that is an error. Only OpenRoot follows the last element.
type Root interface {
	OpenRoot(name string) (Root, error)
	Lstat(name string) (Info, error)
	Rename(old, new string) error
	Remove(name string) error
	Chmod(name string, mode fs.FileMode) error

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
	Changed time.Time // of its contents, names or mode, on this file system's clock; zero if unknown
	Links   uint64    // its names; 0 if the operating system has no such number
	Mount   uint64    // only from Root.Stat; 0 if the operating system has no such number
}

// Same reports whether i and other describe the same state of the same file. The inode is not
// enough, because the inode of a deleted file is used again.
func (i Info) Same(other Info) bool {
	return i.ID == other.ID && i.Size == other.Size && i.ModTime.Equal(other.ModTime)
}

// String returns everything that Same compares.
func (i Info) String() string {
	return fmt.Sprintf("inode %d, %d bytes, of %s", i.ID.Inode, i.Size,
		i.ModTime.UTC().Format(time.RFC3339Nano))
}

// FileID identifies a file, whatever its names.
type FileID struct{ Device, Inode uint64 }

// Number returns the inode as a number that JSON files have, which is never negative.
func (id FileID) Number() int64 { return number(id.Inode) }

// Numbers returns the device and the inode as numbers that JSON files have.
func (id FileID) Numbers() (device, inode int64) { return number(id.Device), id.Number() }

func number(n uint64) int64 { return int64(n &^ (1 << 63)) }
