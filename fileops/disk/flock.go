package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/gofrs/flock"
)

// A fileLock is a file that can be locked. Unlock closes it, even if it is not locked.
type fileLock interface {
	Lock
	TryLock() (bool, error)
	Wait() error // returns once it has the lock
}

// A lockFile is a file that flock locks. A failed try closes it, and the next one opens it again by
// flock's path. So once the lock is held, its owner must check that the locked file is still the
// one at that path.
type lockFile struct {
	flock *flock.Flock
	path  string // the path for error messages
	done  func() // called once flock's path is no longer needed
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

// Unlock unlocks before it closes: a child that was just forked may also have the file open, and
// would keep the lock. If unlocking fails, flock keeps the file open, so the garbage collector must
// close it.
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
	info, err := infoOr(l.flock.Stat())
	return info, l.named(err)
}

// retry repeats a call that a signal interrupted. Network file systems may return EINTR.
func (l *lockFile) retry(call func() error) error {
	err := call()
	for errors.Is(err, syscall.EINTR) {
		err = call()
	}
	return l.named(err)
}

// named returns err with the path of the lock instead of flock's.
func (l *lockFile) named(err error) error {
	op := "lock"
	var at *fs.PathError
	if errors.As(err, &at) {
		op, err = at.Op, at.Err
	}
	return pathError(op, l.path, err)
}
