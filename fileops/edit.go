package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Mode says what an edit expects to find, how long it waits, and whether it changes anything.
type Mode int

const (
	Existing Mode = 0      // the document exists, otherwise ErrArchived, ErrNotFound or ErrNoGroup
	OrCreate Mode = 1 << 0 // it is created unless it exists
	Try      Mode = 1 << 1 // try the lock only once, whatever Options.LockTimeout
	DryRun   Mode = 1 << 2 // without the lock, on a copy
	Own      Mode = 1 << 3 // of the operation of an attempt, by its runner: a power cut ends both
)

// All edits make their system calls in this order, which spec §2 asks for. A test compares it with
// what strace shows. This is a push that commits by rename:
//
//	openat     operations/op.json.lock
//	flock      operations/op.json.lock
//	fstat      operations/op.json.lock
//	newfstatat operations/op.json.lock       # it is still the file of that name
//	openat     operations/op.json.tmp~*      # before the read: an NFS client drops what it remembers
//	openat     operations/op.json
//	fstat      operations/op.json
//	read       operations/op.json
//	close      operations/op.json
//	write      operations/op.json.tmp~*      # the verb has decided
//	fsync      operations/op.json.tmp~*
//	close      operations/op.json.tmp~*
//	openat     operations                    # what can fail does so before the commit
//	newfstatat operations/op.json.lock       # and now it is still the file of that name
//	newfstatat operations/op.json
//	renameat   operations/op.json.tmp~* operations/op.json
//	openat     tmp                           # temporary directories of calls that have ended go
//	fstat      tmp
//	openat     tmp/op
//	fsync      operations
//	close      operations
//	flock      operations/op.json.lock
//	close      operations/op.json.lock
//
// And this is the first registration in a group, which has two files:
//
//	openat     g.lock
//	flock      g.lock
//	fstat      g.lock
//	newfstatat g.lock
//	openat     g.supervisors.json.tmp~*
//	openat     g.orchestrator.json           # read in the opposite order of the commit
//	openat     g.supervisors.json
//	write      g.supervisors.json.tmp~*
//	fsync      g.supervisors.json.tmp~*
//	close      g.supervisors.json.tmp~*
//	openat     g.orchestrator.json.tmp~*
//	write      g.orchestrator.json.tmp~*
//	fsync      g.orchestrator.json.tmp~*
//	close      g.orchestrator.json.tmp~*
//	openat     .
//	newfstatat g.lock
//	newfstatat g.supervisors.json
//	renameat   g.supervisors.json.tmp~* g.supervisors.json
//	newfstatat g.orchestrator.json
//	renameat   g.orchestrator.json.tmp~* g.orchestrator.json
//	fsync      .
//	close      .
//	flock      g.lock
//	close      g.lock
//
// A power cut between the two renames and the fsync of the directory may leave either file from
// before; nothing else that a crash can do there is seen.
//
// If the lock file has lost its name, another process may edit the same document, under the lock on
// another file. So nothing is renamed, and the edit starts again. A lock file that is removed
// between the comparison and the rename is not noticed. On a ledger that commits by link, the link
// decides.
//
// An edit that is Own leaves two things out: the fsync of the directory; and, on a file system of
// one host, the temporary file before the read, so that there is none if the edit removes the
// operation.

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

func (d document) files() []store.File {
	files := make([]store.File, len(d.paths))
	for i, path := range d.paths {
		files[i] = store.File{Path: path, Copies: d.copies}
	}
	return files
}

// errRemoved is store.ErrLost because somebody has removed or replaced the lock file.
var errRemoved error = removedError{}

type removedError struct{}

func (removedError) Error() string {
	return "the lock file was removed during the edit: no program may remove it"
}
func (removedError) Unwrap() error { return store.ErrLost }

// errOvertaken is store.ErrLost in an edit that has already committed something and cannot start
// again.
var errOvertaken = errors.New("another process has the lock by now, and has made an edit")

// An edit is a change of one document under its lock. It commits once, several times, or not at
// all.
type edit struct {
	ledger *Ledger
	document
	held      *trust.Lock
	mode      Mode
	files     []store.Replacement // in the order of the commit
	effects   effects
	absent    bool          // the document does not exist: its lock file is removed with the edit
	committed bool          // something was committed
	archived  bool          // the document is in the archive now
	outcome   store.Outcome // of the last commit
}

// hold calls change while it holds the lock of d. If the lock is lost before the first commit,
// because the lock file was removed, or because on this ledger a lock is only a lease, hold calls
// change again with what others have made of d.
// It returns an error of change unchanged; what change has committed stays. Otherwise it returns
// without calling change
//
//   - ErrNotFound, ErrArchived or ErrNoGroup if there is no such document and mode is Existing;
//   - ErrBusy if it could not get the lock in time;
//   - ErrPermission if the lock or a file is not safe to trust.
//
// What the edit discards is deleted after the lock is released. See Leftovers.
func (l *Ledger) hold(d document, mode Mode, change func(e *edit) error) error {
	if err := wire.CheckID(d.id); err != nil {
		return err
	}

	wait := trust.Wait{}
	if mode&Try == 0 {
		wait.Timeout = l.options.LockTimeout
	}
	defer wait.Stop()
	defer l.fs.Refresh()

	for {
		err := l.holdOnce(d, mode, &wait, change)
		if !errors.Is(err, store.ErrLost) || wait.Next() != nil {
			return err
		}
	}
}

func (l *Ledger) holdOnce(d document, mode Mode, wait *trust.Wait,
	change func(e *edit) error) error {
	lock, err := l.lockDocument(d, mode, wait)
	if err != nil {
		return err
	}

	e := &edit{ledger: l, document: d, held: lock, mode: mode,
		effects: effects{ledger: l, id: d.id}}
	defer e.effects.deleteTrash()
	defer func() { l.recordLeftover(lock.Unlock()) }()
	defer e.end()

	if err := e.begin(); err != nil {
		return err
	}
	if e.absent && mode&OrCreate == 0 {
		return l.whyMissing(d)
	}

	if err := change(e); err != nil {
		return err
	}
	if e.committed || e.absent || mode&Try != 0 { // an edit that only tries reports nothing
		return nil
	}

	return l.syncDirOnly(d.dir)
}

// lockDocument takes the lock of d. A missing lock file is created only with OrCreate, or if the
// files that it protects are still there, after a power cut or because they were copied without it.
func (l *Ledger) lockDocument(d document, mode Mode, wait *trust.Wait) (*trust.Lock, error) {
	lock, err := l.fs.TakeLock(d.lock, mode&OrCreate != 0, wait)
	if !errors.Is(err, fs.ErrNotExist) || mode&OrCreate != 0 {
		return lock, err
	}

	err = l.checkPresent(d)
	if errors.Is(err, fs.ErrNotExist) {
		err = l.whyMissing(d)
	}
	if err != nil {
		return nil, err
	}
	return l.fs.TakeLock(d.lock, true, wait)
}

// checkPresent returns fs.ErrNotExist if d has no file.
func (l *Ledger) checkPresent(d document) (err error) {
	for _, f := range d.files() {
		if err = l.store.Present(f); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// whyMissing returns the reason why there is no such document.
func (l *Ledger) whyMissing(d document) error {
	n, err := store.Newest(l.fs, d.copies)
	switch {
	case err != nil:
		return err
	case n > 0:
		return ErrArchived
	}
	return l.missing(d)
}

// missing returns the reason why d does not exist, which is nowhere: its own, and ErrNoLedger too
// if the ledger was removed or moved away since it was opened.
func (l *Ledger) missing(d document) error {
	if l.absent || l.fs.Exists(l.MarkerPath()) {
		return d.missing
	}
	if err := l.checkUnmarked(); errors.Is(err, ErrNoLedger) {
		return noLedger{err, d.missing}
	}
	return d.missing
}

// noLedger says that there is no ledger, and therefore no document.
type noLedger struct{ ledger, document error }

func (e noLedger) Error() string   { return e.ledger.Error() }
func (e noLedger) Unwrap() []error { return []error{e.ledger, e.document} }

// checkLock returns errRemoved if the lock file has lost its name, or errOvertaken if something was
// committed before.
func (e *edit) checkLock() error {
	if e.ledger.store.Leased() { // the commit decides
		return nil
	}
	holds, err := e.held.Holds()
	switch {
	case err != nil || holds:
		return err
	case e.committed:
		return errOvertaken
	}
	return fmt.Errorf("%s: %w", e.lock, errRemoved)
}

// begin creates the first temporary file, unless the edit is Own, and then reads the document. It
// reads each file after those that are committed after it, so no reader sees the first file older
// than the others.
func (e *edit) begin() (err error) {
	for _, f := range e.document.files() {
		e.files = append(e.files, e.ledger.store.Edit(f))
	}

	if e.mode&Own == 0 || !e.ledger.local {
		if err = e.files[0].Create(); err != nil {
			e.absent = errors.Is(e.ledger.checkPresent(e.document), fs.ErrNotExist)
			return err
		}
	}

	for i := range slices.Backward(e.files) {
		if err = e.files[i].Read(&e.files[0]); err != nil {
			break
		}
	}

	known := err == nil || e.files[0].Base.Over
	e.absent = known && !slices.ContainsFunc(e.files,
		func(r store.Replacement) bool { return r.Base.Exists })
	return err
}

// A change is the new contents of one file of the document.
type change struct {
	file int // index in edit.files
	next store.Contents
}

// commit makes changes in order, and returns how many of them others see.
//
// After an error other than ErrCommitted and ErrUnknown, none is made. ErrCommitted means that the
// first is made, but perhaps no other, and that a power cut may undo all. ErrUnknown means that
// either case is possible. A beat is a commit that a power cut may undo, but not tear: with
// disk.SyncDefault its directory is not synced.
func (e *edit) commit(changes []change, beat bool) (made int, err error) {
	if len(changes) == 0 {
		return 0, nil
	}

	e.outcome = store.NotMade
	// a quiet pass writes nothing but the second file of its group
	e.files[0].Lend(&e.files[changes[0].file])
	for _, c := range changes {
		if err := e.files[c.file].Write(c.next); err != nil {
			return 0, err
		}
	}

	dirs, err := e.ledger.openDirs(beat, e.dir)
	if err != nil {
		return 0, err
	}

	if err := e.checkLock(); err != nil {
		return 0, dirs.end(store.NotMade, err)
	}
	for _, c := range changes {
		outcome, commitErr := e.files[c.file].Commit(c.next)
		if e.committed && errors.Is(commitErr, store.ErrLost) {
			commitErr = errOvertaken
		}
		if outcome != store.Made && made == 0 {
			e.outcome = outcome
			return 0, dirs.end(outcome, commitErr)
		}

		err = errors.Join(err, commitErr)
		if outcome != store.Made {
			break
		}

		made++
		e.outcome, e.committed, e.absent = store.Made, true, false
	}

	e.effects.committed()

	return made, dirs.sync(err)
}

// archive moves the document, which has one file, unchanged to the archive, and removes its
// temporary directories. Then, still holding the lock, it removes the lock file: a process waiting
// for the lock gets it on a file without a name, and starts again. archive does nothing for a
// document that does not exist.
func (e *edit) archive() error {
	if e.absent {
		return nil
	}

	l := e.ledger
	if err := e.checkLock(); err != nil {
		return err
	}
	if err := l.fs.EnsureDir(l.ArchiveDir()); err != nil {
		return err
	}

	dirs, err := l.openDirs(false, l.ArchiveDir(), e.dir)
	if err != nil {
		return err
	}

	l.recordLeftover(e.effects.discardAll())
	e.outcome, err = e.files[0].Archive()
	e.files[0].Remove()
	err = dirs.end(e.outcome, err)
	if e.outcome != store.Made {
		return err
	}

	e.committed, e.archived = true, true
	if removeErr := l.fs.Remove(e.lock); removeErr != nil {
		l.recordLeftover(fmt.Errorf("remove lock file: %w", removeErr))
	}

	return err
}

// drop is archive for a document that no one will ask for: it removes its file. It does not sync
// the directory. If the next document of that name must go on with its revisions, it stays in the
// archive.
func (e *edit) drop() error {
	l := e.ledger
	if e.absent || l.store.Consecutive() {
		return e.archive()
	}
	if err := e.checkLock(); err != nil {
		return err
	}

	l.recordLeftover(e.effects.discardAll())
	e.files[0].Remove()
	if err := l.fs.RemoveIfThere(e.paths[0]); err != nil {
		return err
	}

	e.outcome, e.committed, e.archived = store.Made, true, true
	if err := l.fs.Remove(e.lock); err != nil {
		l.recordLeftover(fmt.Errorf("remove lock file: %w", err))
	}
	return nil
}

// end tidies up, under the lock, after an edit that was not committed. It removes the lock file of
// a document that does not exist, and leftovers of an edit that crashed before its commit. If the
// edit may be committed, it leaves everything as a kill would.
func (e *edit) end() {
	for i := range e.files {
		e.files[i].Remove()
	}

	if e.outcome != store.NotMade {
		return
	}

	e.effects.restore()
	if !e.absent {
		return
	}
	if err := e.checkLock(); err != nil { // others may have created it by now, under another lock
		return
	}

	if e.calls {
		if err := e.effects.discardAll(); err != nil {
			e.ledger.recordLeftover(err)
			return
		}
	}

	e.ledger.recordLeftover(e.ledger.removeLock(e.lock))
}

// removeLock removes an empty lock file. A file with content is not a lock file, and stays.
func (l *Ledger) removeLock(path string) error {
	info, err := l.fs.Lstat(path)
	if err != nil || info.Size > 0 {
		return trust.IgnoreMissing(err)
	}
	return l.fs.RemoveIfThere(path)
}

// syncDirOnly makes durable what an edit that changes nothing has found in dir. The process that
// wrote it may have been killed before its fsync of the directory, and now this edit reports it as
// done.
func (l *Ledger) syncDirOnly(dir string) error {
	dirs, err := l.openDirs(false, dir)
	if err != nil {
		return err
	}
	return dirs.sync(nil)
}
