// Package fileops keeps a ledger directory: it locks, edits, archives and reads its files, and
// deletes the resources that crashed calls leave behind.
//
// # Documents
//
// A [Document] describes how values of one type are stored, each in one or more files under one
// lock: operations in one file, groups in two. It has their names (layout), their codecs, and the
// actions beside an edit. A new kind of file needs nothing else: reading, editing, archiving,
// sweeping and dry runs are the same for all. In addition, [AppendAlerts] keeps a log for each
// group. Packages below have what needs no document: how a file is replaced, by rename or by link
// (store), the logs of records (record), names of files (layout), single files (trust), logs of
// lines (jsonl), deletion (resource); package survey is above.
//
// # Promises
//
// On a file system whose flock, rename and fsync work as POSIX says:
//
//   - Edits of one document happen one after the other. An edit that times out while waiting has
//     changed nothing.
//   - A reader takes no lock, and sees each file as some edit left it, never a part of one. The
//     same holds after a crash or a power cut.
//   - When an edit returns nil, the change survives a power cut, unless Options.Sync or a heartbeat
//     asked for less. When it returns an error, every file is unchanged byte for byte, except with
//     ErrCommitted and ErrUnknown.
//   - A lock file exists as long as its document. A process that waits for a lock file notices if
//     the file is removed.
//
// The order of system calls behind this is listed in edit.go, and in store/link.go for ledgers that
// several hosts may use. On those a lock is only a lease, and a commit gives the temporary file the
// name of the next version, which only one edit can do (spec §17).
//
// The directories of the ledger are opened once, from the ledger's own down and through no symbolic
// link, and rejected if others could have put them there. All calls on their entries are relative
// to them (see disk.FS). So in a ledger of several users, no user can make another user's call
// lock, rename, remove or chmod something elsewhere.
//
// The package never reads the clock or the environment, and prints nothing.
package fileops

import (
	"errors"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/fileops/resource"
)

// Test for these errors with errors.Is. Any other error of Edit comes from the caller or the
// operating system, and nothing was changed.
var (
	// ErrNoLedger means that the directory does not exist or has never been a ledger.
	ErrNoLedger = errors.New("no such ledger")

	// ErrNotFound means that there is no such operation, not even in the archive.
	ErrNotFound = errors.New("no such operation")

	// ErrNoGroup means that nothing has been registered in the group.
	ErrNoGroup = errors.New("no such group")

	// ErrArchived means that the operation is over and can only be read.
	ErrArchived = errors.New("the operation is over and archived")

	// ErrBusy means that another process held the lock for as long as the caller could wait.
	// Nothing was changed.
	ErrBusy = disk.ErrBusy

	// ErrTooLarge means that the edit would make a file of more than 64 MiB, which readers refuse.
	// Nothing was changed.
	ErrTooLarge = errors.New("too large for a file of the ledger")

	// ErrUnreadable means that the edit would make a file that readers refuse, because it has a value
	// that is nested too deep, or a number out of its range.
	ErrUnreadable = errors.New("no command could read what this edit would make")

	// ErrPermission means that the operating system refuses access, or that a file is not safe to
	// trust because another user owns it or may write to it.
	ErrPermission = fs.ErrPermission

	// ErrConfig means that the directory is a ledger that this program must not touch.
	ErrConfig = errors.New("unusable ledger")

	// ErrCannotCreate means that the ledger could not be created.
	ErrCannotCreate = errors.New("cannot create the ledger")

	// ErrCommitted means that the change is made and visible, but may not survive a power cut.
	ErrCommitted = errors.New("committed, but it may not survive a power cut")

	// ErrUnknown means that the change may be made or not, because neither an answer nor a look at
	// the file was possible.
	ErrUnknown = errors.New("it may be committed or not")

	// ErrResource means that this ledger may not delete the path.
	ErrResource = resource.ErrResource

	// ErrEmptyLog means that a log has no lines to be sealed.
	ErrEmptyLog = record.ErrEmpty

	// ErrLastPart means that a log cannot be sealed, because a part has the last number.
	ErrLastPart = record.ErrLastPart

	// ErrRoot means that a ledger may not delete below the directory.
	ErrRoot = resource.ErrRoot
)
