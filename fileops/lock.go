package fileops

import (
	"errors"
	"io/fs"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

// lockWait is how long one edit may wait for its lock, however often it has to start again. The timer starts when there
// is something to wait for.
type lockWait struct {
	timeout time.Duration
	tries   int
	expired chan struct{}
	timer   *time.Timer
}

// maxTries bounds how often a lock file may turn out to be replaced for somebody who does not want to wait.
const maxTries = 16

// next returns what to wait for, or ErrBusy when the time is over.
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

// lock takes the exclusive lock on the file at path. It returns fs.ErrNotExist if there is none and create is false, and
// ErrBusy if somebody else has it for as long as p lasts. The file that is locked is the one at path: a lock on a file
// that was removed or replaced meanwhile protects nothing.
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

// openLock creates a shared ledger's lock file under another name first: by its own name it has its final mode from the
// beginning, so that no other member of the group is turned away.
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

// verify reports whether path still names the file that is locked, and refuses one that others could have made.
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
