// Package fileops keeps a ledger directory: it locks, edits, archives and reads operation files, and deletes the
// resources that crashed calls leave behind. Edit and Read work on bytes; EditOperation and ReadOperation put package
// protocol on top of them, which knows what the bytes mean. EditGroup and ReadGroup do the same for the two files of a
// group, beside which AppendAlerts keeps a file of alerts.
//
// What it promises, on any file system whose flock, rename and fsync do what POSIX says:
//
//   - Edits of one operation happen one after the other. An edit that was told to wait no longer changed nothing.
//   - A reader, who takes no lock, sees the operation as some edit left it, never a part of one. So does whoever comes
//     after a crash or a power cut.
//   - When Edit returns nil the change survives a power cut, unless Options.Sync or a heartbeat asked for less. When it
//     returns an error the operation is byte for byte what it was, with two exceptions, ErrCommitted and ErrUnknown.
//   - A lock file exists as long as its operation. Whoever waits for a lock file that is removed meanwhile notices.
//
// Directories of the ledger are opened once, from the ledger's own down and through no symbolic link, and refused if others
// could have put them there; all calls on what is in them are relative to them (see disk.FS). So in a ledger of several
// users nobody can have a call of another one lock, rename, remove or chmod something elsewhere.
//
// An edit is, in this order: open and lock operations/{id}.json.lock; check that this path still names the locked file;
// create a temporary file beside the operation; read the operation; change; write; fsync; rename; fsync the directory;
// unlock. The temporary file comes before the read because creating it makes an NFS client drop what it remembers of the
// directory: without that, the read may be of an older version than the lock protects.
//
// That is how a ledger commits by rename. One that commits by link, because several hosts may use its file system and a lock is
// but a lease there, gives the temporary file the name of the next version in place of the rename, which only one can do, and
// begins again if another has: see state, temp.link and spec §17.
//
// An edit of a group is the same under the lock {group}.lock, in the ledger directory. It may commit several times. A
// commit first writes and fsyncs all temporary files, then renames that of the supervisors file, then that of the
// orchestrator file, then fsyncs the directory: who sees the new orchestrator sees the new registry, too, except after a
// power cut in the middle of a commit.
//
// Alerts are appended under the same lock: find the number of the last complete line that is none of them; cut off what
// follows it; write what has a higher number, in one call; fsync. The name of the file is made durable before its first line is written. One
// failure is not survived: a file system that after a power cut has the end of an append but not its beginning makes the
// file corrupt, and somebody has to mend it.
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
