// Package fileops keeps a ledger directory: it locks, edits, archives and reads what is in it, and
// deletes the resources that crashed calls leave behind.
//
// # Documents
//
// A [Document] says how values of one type are kept, each in one or more files under one lock: operations
// in one file, groups in two. It has their names (names.go), their codec, and what is done beside them. A
// new kind of file needs no more than that; reading, editing, committing by rename or by link, the
// archive, sweeping and dry runs are the same for all. Beside a group [AppendAlerts] keeps a log.
//
// # Promises
//
// On any file system whose flock, rename and fsync do what POSIX says:
//
//   - Edits of one document happen one after the other. An edit that was told to wait no longer changed
//     nothing.
//   - A reader takes no lock, and sees each file as some edit left it, never a part of one. So does
//     whoever comes after a crash or a power cut.
//   - When an edit returns nil the change survives a power cut, unless Options.Sync or a heartbeat asked
//     for less. When it returns an error every file is byte for byte what it was, with two exceptions,
//     ErrCommitted and ErrUnknown.
//   - A lock file exists as long as its document. Whoever waits for a lock file that is removed meanwhile
//     notices.
//
// The order of the system calls that this takes is listed in edit.go, and in link.go for ledgers that
// several hosts may use: there a lock is but a lease, and a commit gives the temporary file the name of
// the next version, which only one can do (spec §17).
//
// Directories of the ledger are opened once, from the ledger's own down and through no symbolic link, and
// refused if others could have put them there; all calls on what is in them are relative to them (see
// disk.FS). So in a ledger of several users nobody can have a call of another one lock, rename, remove or
// chmod something elsewhere.
//
// It never reads the clock or the environment and prints nothing.
package fileops

import (
	"errors"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
)

// These errors are told apart with errors.Is. Anything else that Edit returns is the caller's own error or the operating
// system's, and nothing was changed.
var (
	// ErrNoLedger: the directory does not exist or has never been a ledger.
	ErrNoLedger = errors.New("no such ledger")

	// ErrNotFound: there is no such operation, and none in the archive.
	ErrNotFound = errors.New("no such operation")

	// ErrNoGroup: nobody has registered in the group.
	ErrNoGroup = errors.New("no such group")

	// ErrArchived: the operation is over; it can only be read.
	ErrArchived = errors.New("the operation is over and archived")

	// ErrBusy: another process held the lock all the time that was allowed for waiting. Nothing was changed.
	ErrBusy = disk.ErrBusy

	// ErrTooLarge: the edit would make a file of more than 64 MiB, which nobody would read. Nothing was changed.
	ErrTooLarge = errors.New("too large for a file of the ledger")

	// ErrPermission: the operating system refuses, or a file is not safe to trust: somebody else owns it or may write to it.
	ErrPermission = fs.ErrPermission

	// ErrConfig: the directory is a ledger, but not one that this program may touch.
	ErrConfig = errors.New("unusable ledger")

	// ErrCannotCreate: the ledger could not be created.
	ErrCannotCreate = errors.New("cannot create the ledger")

	// ErrCommitted: the change is made and everybody sees it, but it may not survive a power cut.
	ErrCommitted = errors.New("committed, but it may not survive a power cut")

	// ErrUnknown: the change may be made or not, since neither the answer nor a look at what is there could be had.
	ErrUnknown = errors.New("it may be committed or not")

	// ErrResource: the path is not one that this ledger may delete.
	ErrResource = errors.New("not a resource of this ledger")

	// ErrRoot: the directory is not one below which a ledger may delete.
	ErrRoot = errors.New("not fit for a resource root")
)
