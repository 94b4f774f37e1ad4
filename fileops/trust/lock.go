package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

// A Wait limits how long one edit may wait for its lock, however often it starts again. The timer
// starts when there is something to wait for. The zero Wait does not wait.
type Wait struct {
	Timeout time.Duration
	tries   int
	expired chan struct{}
	timer   *time.Timer
}

// MaxTries limits how often a lock file may turn out to be replaced if the caller does not want to
// wait.
const MaxTries = 16

// Next prepares the next try. It returns disk.ErrBusy if the time is over.
func (p *Wait) Next() error {
	if p.tries++; p.Timeout <= 0 && p.tries > MaxTries {
		return disk.ErrBusy
	}

	if p.Timeout > 0 && p.expired == nil {
		p.expired = make(chan struct{})
		p.timer = time.AfterFunc(p.Timeout, func() { close(p.expired) })
	}

	select {
	case <-p.expired:
		return disk.ErrBusy
	default:
		return nil
	}
}

// Stop ends the waiting.
func (p *Wait) Stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// A Lock is a lock that TakeLock has taken.
type Lock struct {
	disk.Lock
	fs   *FS
	path string
	id   disk.FileID
}

// Holds reports whether the lock file still has its name. If not, somebody has removed or replaced
// it, and another process may hold the lock on the file that has the name now.
func (l *Lock) Holds() (bool, error) {
	named, err := l.fs.Lstat(l.path)
	return err == nil && named.ID == l.id, IgnoreMissing(err)
}

// TakeLock takes the exclusive lock on the file at path. It returns fs.ErrNotExist if there is none
// and create is false, fs.ErrPermission if f is Foreign, and disk.ErrBusy if another process holds
// it for as long as p lasts. It makes sure that the locked file is still the one at path, because a
// lock on a removed or replaced file protects nothing.
func (f *FS) TakeLock(path string, create bool, p *Wait) (*Lock, error) {
	if f.Foreign {
		owner := UserName(f.UID)
		return nil, fmt.Errorf("%s: %w: it belongs to %s: run this as %s", path, fs.ErrPermission,
			owner, owner)
	}
	for {
		lock, err := f.openLock(path, create, p.expired)
		if errors.Is(err, disk.ErrBusy) && p.expired == nil && p.Timeout > 0 {
			if err := p.Next(); err != nil {
				return nil, err
			}
			continue
		}

		if err != nil {
			return nil, err
		}

		id, current, err := f.verify(lock, path)
		if err == nil && current {
			return &Lock{lock, f, path, id}, nil
		}

		lock.Unlock()
		if err == nil {
			err = p.Next()
		}
		if err != nil {
			return nil, err
		}
	}
}

// openLock creates a shared ledger's lock file under another name first. So it has its final mode
// before it gets its own name, and no other member of the group is refused.
func (f *FS) openLock(path string, create bool, expired <-chan struct{}) (disk.Lock, error) {
	if !create {
		return f.Lock(path, 0, expired)
	}
	if !f.Shared {
		return f.Lock(path, f.fileMode(), expired)
	}

	lock, err := f.Lock(path, 0, expired)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.Publish(path, nil); err != nil {
			return nil, err
		}
		lock, err = f.Lock(path, 0, expired)
	}

	return lock, err
}

// verify reports whether path still names the locked file, and which file that is. It returns an
// error if others could have created it.
func (f *FS) verify(lock disk.Lock, path string) (disk.FileID, bool, error) {
	locked, err := lock.Stat()
	if err != nil {
		return locked.ID, false, err
	}

	named, err := f.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return locked.ID, false, nil
	}
	if err != nil {
		return locked.ID, false, err
	}
	current, err := named.ID == locked.ID, f.CheckFile(path, locked)
	const othersRead = 0o044
	if err == nil && current && locked.UID == f.UID && locked.Mode&othersRead&^f.fileMode() != 0 {
		// Who can open the file can hold its lock. A file system may have modes of its own.
		f.WithFile(path, func(file disk.File) error { return file.Chmod(f.fileMode()) })
	}
	return locked.ID, current, err
}

// IgnoreBusy returns err, or nil if it means that another process has the lock.
func IgnoreBusy(err error) error {
	if errors.Is(err, disk.ErrBusy) {
		return nil
	}
	return err
}

// TryLock is TakeLock for an existing file, and does not wait.
func (f *FS) TryLock(path string) (*Lock, error) { return f.TakeLock(path, false, &Wait{}) }
