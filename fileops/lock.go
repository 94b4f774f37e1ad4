package fileops

import (
	"errors"
	"io/fs"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

// lockWait limits how long one edit may wait for its lock, however often it starts again. The timer
// starts when there is something to wait for.
type lockWait struct {
	timeout time.Duration
	tries   int
	expired chan struct{}
	timer   *time.Timer
}

// maxTries limits how often a lock file may turn out to be replaced if the caller does not want to
// wait.
const maxTries = 16

// next prepares the next try. It returns ErrBusy if the time is over.
func (p *lockWait) next() error {
	if p.tries++; p.timeout <= 0 && p.tries > maxTries {
		return ErrBusy
	}

	if p.timeout > 0 && p.expired == nil {
		p.expired = make(chan struct{})
		p.timer = time.AfterFunc(p.timeout, func() { close(p.expired) })
	}

	select {
	case <-p.expired:
		return ErrBusy
	default:
		return nil
	}
}

func (p *lockWait) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// lock takes the exclusive lock on the file at path. It returns fs.ErrNotExist if there is none and
// create is false, and ErrBusy if another process holds it for as long as p lasts. It makes sure
// that the locked file is still the one at path, because a lock on a removed or replaced file
// protects nothing.
func (l *Ledger) lock(path string, create bool, p *lockWait) (disk.Lock, error) {
	for {
		lock, err := l.openLock(path, create, p.expired)
		if errors.Is(err, ErrBusy) && p.expired == nil && p.timeout > 0 {
			if err := p.next(); err != nil {
				return nil, err
			}
			continue
		}

		if err != nil {
			return nil, err
		}

		current, err := l.verify(lock, path)
		if err == nil && current {
			return lock, nil
		}

		lock.Unlock()
		if err == nil {
			err = p.next()
		}
		if err != nil {
			return nil, err
		}
	}
}

// openLock creates a shared ledger's lock file under another name first. So it has its final mode
// before it gets its own name, and no other member of the group is refused.
func (l *Ledger) openLock(path string, create bool, expired <-chan struct{}) (disk.Lock, error) {
	if !create {
		return l.fs.Lock(path, 0, expired)
	}
	if !l.config.Shared {
		return l.fs.Lock(path, l.fileMode(), expired)
	}

	lock, err := l.fs.Lock(path, 0, expired)
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.publish(path, nil, SyncNone); err != nil {
			return nil, err
		}
		lock, err = l.fs.Lock(path, 0, expired)
	}

	return lock, err
}

// verify reports whether path still names the locked file. It returns an error if others could have
// created it.
func (l *Ledger) verify(lock disk.Lock, path string) (bool, error) {
	locked, err := lock.Stat()
	if err != nil {
		return false, err
	}

	named, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return named.ID == locked.ID, l.trustFile(path, locked)
}

func ignoreBusy(err error) error {
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}
