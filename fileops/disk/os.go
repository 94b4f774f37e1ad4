package disk

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"time"
)

// OS is the operating system.
type OS struct {
	// Polls makes Lock ask repeatedly instead of waiting in the kernel. Several network file
	// systems wake a waiter seconds after the lock is free.
	Polls bool

	dirs *dirs // directories for the paths of a ledger; nil: paths are used unchanged
}

// ErrSymlink means that a path is a symbolic link and must not be one. It is an fs.ErrPermission.
var ErrSymlink error = symlinkError{}

type symlinkError struct{}

func (symlinkError) Error() string {
	return "is a symbolic link, which the ledger does not follow: put what it points to in its " +
		"place"
}
func (symlinkError) Is(target error) bool { return target == fs.ErrPermission }

// Lock tries once before it waits, because most locks are free.
func (o OS) Lock(path string, create fs.FileMode, expired <-chan struct{}) (Lock, error) {
	lock, had, err := o.tryLock(path, create)
	switch {
	case had:
		return lock, nil
	case err == nil && expired == nil:
		err = ErrBusy
	case err == nil && !o.Polls:
		return lock, wait(lock, expired)
	case err == nil:
		err = poll(lock, expired)
	}

	if err == nil {
		return lock, nil
	}
	if lock != nil {
		lock.Unlock()
	}

	return nil, err
}

// wait blocks in the kernel, which serves waiters in order, until it has the lock or expired is
// closed. In the latter case the goroutine stays behind and releases the lock when it gets it.
// Without the lock, the file is closed.
func wait(lock fileLock, expired <-chan struct{}) error {
	got := make(chan error)
	go func() {
		err := lock.Wait()
		if err != nil {
			lock.Unlock()
		}

		select {
		case got <- err:
		case <-expired:
			if err == nil {
				lock.Unlock()
			}
		}
	}()

	select {
	case err := <-got:
		return err
	case <-expired:
		return ErrBusy
	}
}

// poll asks for the lock until it has it or expired is closed. The random 2 to 40 ms between tries
// keep processes that started together from staying in step.
func poll(lock fileLock, expired <-chan struct{}) error {
	for {
		select {
		case <-time.After(2*time.Millisecond + rand.N(38*time.Millisecond)):
		case <-expired:
			return ErrBusy
		}

		had, err := lock.TryLock()
		if err != nil || had {
			return err
		}
	}
}

func (OS) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }

// infoOr returns info as an Info, unless err is not nil.
func infoOr(info fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

// linkThenRemove moves a file on systems without a rename that never replaces. A crash in between
// leaves both names.
func (o OS) linkThenRemove(old, new string) error {
	if err := o.Link(old, new); err != nil {
		return err
	}
	err := o.Remove(old)
	if err != nil {
		o.Remove(new)
	}
	return err
}
