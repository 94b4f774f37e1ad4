package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/observe"
)

// ErrPublish means that a file of an attempt or of a call cannot be published. See Unpublishable.
var ErrPublish = errors.New("cannot be published")

// An unpublishable error says only why: what contains it says that something cannot be published.
type unpublishable struct{ error }

func (unpublishable) Is(target error) bool { return target == ErrPublish }

func (u unpublishable) Unwrap() error { return u.error }

// Unpublishable returns an error that is ErrPublish, for the reason that fmt.Errorf returns.
func Unpublishable(format string, args ...any) error {
	return unpublishable{fmt.Errorf(format, args...)}
}

// SyncPublications makes files that are to be published durable, so that little of them is left to
// be synced under the lock, and removes second names that killed processes have left beside theirs.
// It passes over those that cannot be published: the edit says why.
func (l *Ledger) SyncPublications(all []observe.Publication) error {
	for _, p := range all {
		if p.From != "" { // else NewFile has done it
			l.sweepBeside(p.To)
		}
		// The kernel tells of a write that has failed only once.
		if err := l.syncFile(p); err != nil && !errors.Is(err, ErrPublish) {
			return publishing(p, err)
		}
	}
	return nil
}

// publishing returns err with the names of p, unless it is nil.
func publishing(p observe.Publication, err error) error {
	switch {
	case err == nil:
		return nil
	case p.From == "":
		return fmt.Errorf("publish %q: %w", p.To, err)
	}
	return fmt.Errorf("publish %q as %q: %w", p.From, p.To, err)
}

// syncFile syncs the file of p. It returns ErrPublish if there is no regular file.
func (l *Ledger) syncFile(p observe.Publication) error {
	if p.From == "" {
		return l.newFiles[p.To].file.Sync()
	}

	info, err := l.fs.Lstat(p.From)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Unpublishable("there is no such file")
	case err != nil:
		return err
	case !info.Mode.IsRegular():
		return Unpublishable("it is not a regular file")
	}
	return l.fs.WithFile(p.From, l.fs.SyncFile)
}

// publish gives files their names, under the lock and before the commit that says that the task is
// done, or the call has ended (spec §35.6, §15.10). Each keeps its first name until Published, or
// is a NewFile, so if the commit fails, all of it can be repeated. again says that an earlier edit may
// have done so. None gets its name if one of them could not be linked beside it, or if held, which
// looks whether the lock is still held, returns an error.
func (l *Ledger) publish(all []observe.Publication, again bool, held func() error) (err error) {
	if len(all) == 0 {
		return nil
	}
	linked := make([]*beside, len(all))
	defer func() {
		for i, b := range linked {
			if all[i].From != "" {
				err = errors.Join(err, b.remove())
			}
		}
	}()

	for i, p := range all {
		if linked[i], err = l.linkBeside(p, again); err != nil {
			return publishing(p, err)
		}
	}

	if err := held(); err != nil {
		return err
	}
	for i, p := range all {
		err := linked[i].replace(p.To)
		if f := l.newFiles[p.To]; err == nil && p.From == "" {
			f.placed = true
		}
		if err == nil {
			err = l.fs.SyncDir(filepath.Dir(p.To))
		}
		if err != nil {
			return publishing(p, err)
		}
	}
	return nil
}

// linkBeside syncs the file of p, and gives it a name beside p.To. It returns nil if the file has
// the name p.To already.
func (l *Ledger) linkBeside(p observe.Publication, again bool) (*beside, error) {
	if l.store.Leased() {
		return nil, linkedLedger()
	}

	to, none := l.fs.Lstat(p.To)
	if none == nil && to.Mode.IsDir() {
		return nil, Unpublishable("there is a directory of that name")
	}
	if p.From == "" {
		return l.newFiles[p.To].linkBeside(to, none == nil)
	}

	if _, err := l.fs.Lstat(p.From); again && none == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := l.syncFile(p); err != nil {
		return nil, err
	}
	return l.newBeside(p.To, func(path string) error { return l.fs.Link(p.From, path) })
}

// linkedLedger returns the reason why nothing is published with commit link.
func linkedLedger() error {
	return Unpublishable("this ledger commits by link, so its locks do not keep others out")
}

// A beside is a name of a file, beside the one that it will get. Its lock says that it is in use. A
// nil one is none.
type beside struct {
	ledger *Ledger
	path   string
	lock   disk.Lock // nil: it could not be locked
}

// newBeside gives a file a name beside path, by link. Whoever sweeps may remove it until it is
// locked: then it gets another one.
func (l *Ledger) newBeside(path string, link func(path string) error) (*beside, error) {
	for tries := 1; ; tries++ {
		b := &beside{ledger: l, path: layout.NewFileOf(path)}
		err := link(b.path)
		switch {
		case errors.Is(err, syscall.EXDEV):
			return nil, Unpublishable("they are on different file systems")
		case errors.Is(err, fs.ErrNotExist):
			return nil, Unpublishable("there is no directory %q", filepath.Dir(path))
		case err != nil:
			return nil, err
		}

		b.lock, err = l.fs.Lock(b.path, 0, nil)
		if err == nil && l.fs.Exists(b.path) || tries == mostNames {
			return b, nil
		}
		if err != nil && !errors.Is(err, disk.ErrBusy) && !errors.Is(err, fs.ErrNotExist) {
			return b, nil // a read-only one; whoever sweeps cannot lock it either
		}
		if err := b.remove(); err != nil {
			return nil, err
		}
	}
}

// mostNames is how many names are tried. The last one is used even if it cannot be locked, because
// the file may be locked by its own program.
const mostNames = 3

// replace gives the file the name path.
func (b *beside) replace(path string) error {
	if b == nil {
		return nil
	}
	return b.ledger.fs.Replace(b.path, path)
}

// remove removes the second name, if it is still there: both may be names of one file.
func (b *beside) remove() error {
	if b == nil {
		return nil
	}
	defer b.unlock()
	return b.ledger.fs.RemoveIfThere(b.path)
}

func (b *beside) unlock() {
	if b.lock != nil {
		b.ledger.recordLeftover(b.lock.Unlock())
	}
}

// sweepBeside removes second names beside path, and new files for it, that killed processes have
// left. A file that is locked is in use.
func (l *Ledger) sweepBeside(path string) {
	dir := filepath.Dir(path)
	names, err := l.fs.Entries(dir)
	for _, n := range names {
		if layout.IsNewFile(n, filepath.Base(path)) {
			err = errors.Join(err, l.removeUnused(filepath.Join(dir, n)))
		}
	}
	l.recordLeftover(err)
}

func (l *Ledger) removeUnused(path string) error {
	lock, err := l.fs.Lock(path, 0, nil)
	switch {
	case errors.Is(err, disk.ErrBusy), errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil: // it may be in use
		return err
	}
	return errors.Join(l.fs.RemoveIfThere(path), lock.Unlock())
}

// Published removes the first names of files that an edit has published.
func (l *Ledger) Published(all []observe.Publication) error {
	for _, p := range all {
		if p.From == "" {
			continue
		}
		from, err := l.fs.Lstat(p.From)
		to, toErr := l.fs.Lstat(p.To)
		if err == nil && toErr == nil && from.ID == to.ID {
			if err := l.fs.RemoveIfThere(p.From); err != nil {
				return err
			}
		}
	}
	return nil
}
