package fileops

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/natefinch/atomic"
)

// osFS is the operating system.
type osFS struct {
	polls bool // ask again for a lock: several network file systems serve a waiter seconds after it could have had it
}

var errSymlink = symlinkError{}

// symlinkError says that a path which must not be a symbolic link is one.
type symlinkError struct{}

func (symlinkError) Error() string        { return "is a symbolic link, which the ledger does not follow" }
func (symlinkError) Is(target error) bool { return target == ErrPermission }

func (o osFS) Lock(path string, create fs.FileMode, expired <-chan struct{}) (Lock, error) {
	flags := os.O_RDWR | noFollow
	if create != 0 {
		flags |= os.O_CREATE
	}
	lock := flock.New(path, flock.SetFlag(flags), flock.SetPermissions(create.Perm()))
	had, err := lock.TryLock()
	if err == nil && !had {
		if o.polls {
			err = poll(lock, expired)
		} else {
			err = wait(lock, expired)
		}
	}
	if err != nil {
		return nil, lockError(path, err)
	}
	return osLock{lock}, nil
}

// wait blocks in the kernel, which serves waiters in their order, until it has the lock or expired is closed. In the
// latter case the goroutine stays behind and gives the lock back when it comes.
func wait(lock *flock.Flock, expired <-chan struct{}) error {
	if expired == nil {
		return ErrBusy
	}
	got := make(chan error)
	go func() {
		err := lock.Lock()
		for errors.Is(err, syscall.EINTR) {
			err = lock.Lock()
		}
		select {
		case got <- err:
		case <-expired:
			lock.Unlock()
		}
	}()
	select {
	case err := <-got:
		return err
	case <-expired:
		return ErrBusy
	}
}

// poll asks for the lock every 2 to 40 ms, so that processes which began together do not go on together, until it has the lock
// or expired is closed.
func poll(lock *flock.Flock, expired <-chan struct{}) error {
	if expired == nil {
		return ErrBusy
	}
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

func lockError(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return &fs.PathError{Op: "lock", Path: path, Err: errSymlink}
	case errors.Is(err, ErrBusy), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return err
	}
	return &fs.PathError{Op: "lock", Path: path, Err: err}
}

type osLock struct{ flock *flock.Flock }

func (l osLock) Stat() (Info, error) {
	info, err := l.flock.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

func (l osLock) Unlock() error { return l.flock.Unlock() }

func (osFS) ReadDir(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (osFS) Link(old, new string) error    { return os.Link(old, new) }
func (osFS) Replace(old, new string) error { return atomic.ReplaceFile(old, new) }
func (osFS) Move(old, new string) error    { return move(old, new) }
func (osFS) Remove(path string) error      { return os.Remove(path) }

func (osFS) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }

// linkThenRemove moves a file where no system call does that without replacing. A crash in between leaves both names.
func linkThenRemove(old, new string) error {
	if err := os.Link(old, new); err != nil {
		return err
	}
	err := os.Remove(old)
	if err != nil {
		os.Remove(new)
	}
	return err
}
