package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/gofrs/flock"
)

// A fileLock is a file that can be locked. Unlock closes it, locked or not.
type fileLock interface {
	Lock
	TryLock() (bool, error)
	Wait() error // until it has the lock
}

// A lockFile is a file that flock locks. A try in vain closes it, and the next one opens it again, by
// the path that flock has: whoever has the lock must compare the file with the one that has the name.
type lockFile struct {
	flock *flock.Flock
	path  string // as errors name it
	done  func() // is called when flock's path need not lead there any more
}

func newLockFile(path, opened string, flags int, create fs.FileMode, done func()) *lockFile {
	if create != 0 {
		flags |= os.O_CREATE
	}
	lock := flock.New(opened, flock.SetFlag(flags), flock.SetPermissions(create.Perm()))
	return &lockFile{lock, path, done}
}

func (l *lockFile) TryLock() (had bool, err error) {
	err = l.retry(func() error {
		had, err = l.flock.TryLock()
		return err
	})
	return had, err
}

func (l *lockFile) Wait() error { return l.retry(l.flock.Lock) }

// Unlock does not leave it to closing the file to give the lock back: a process that was forked just now may have the file
// open, too. What cannot be unlocked flock keeps open, so the garbage collector has to close it.
func (l *lockFile) Unlock() error {
	defer l.done()
	err := l.retry(l.flock.Unlock)
	if err != nil {
		l.flock = flock.New(l.path)
		runtime.GC()
	}
	return err
}

func (l *lockFile) Stat() (Info, error) {
	info, err := l.flock.Stat()
	if err != nil {
		return Info{}, l.named(err)
	}
	return infoFrom(info), nil
}

// retry repeats a call that a signal interrupted, as network file systems may say.
func (l *lockFile) retry(call func() error) error {
	err := call()
	for errors.Is(err, syscall.EINTR) {
		err = call()
	}
	return l.named(err)
}

// named returns the error with the path of the lock in the place of flock's.
func (l *lockFile) named(err error) error {
	op := "lock"
	var at *fs.PathError
	if errors.As(err, &at) {
		op, err = at.Op, at.Err
	}
	return pathError(op, l.path, err)
}
