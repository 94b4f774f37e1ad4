package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/resource"
	"github.com/dpl-project/dpl/fileops/trust"
)

// ErrUnsound means that the file system does not keep a promise on which edits rely.
var ErrUnsound = errors.New("the file system breaks a promise")

// A Scratch is a directory inside a ledger for testing its file system. Each test returns nil if
// the file system keeps the promise, as far as one process can tell, ErrUnsound if it does not, and
// another error if it could not be tested.
type Scratch struct {
	files  *trust.FS
	ledger layout.Paths
	dir    string
	used   disk.Lock // while it is held, Sweep leaves the directory alone
}

// Scratch creates a scratch directory. The caller must call Remove.
func (s *Survey) Scratch() (*Scratch, error) {
	l := s.Ledger.Paths
	for tries := 1; ; tries++ {
		dir := filepath.Join(l.Dir(), layout.NewScratch())
		if err := s.files.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}

		used, err := s.files.TakeLock(layout.ScratchLock(dir), true, &trust.Wait{})
		if err == nil {
			return &Scratch{s.files, l, dir, used}, nil
		}

		// it was swept before it was in use
		swept := errors.Is(err, disk.ErrBusy) || errors.Is(err, fs.ErrNotExist)
		if !swept || tries == trust.MaxTries {
			return nil, errors.Join(err, trust.IgnoreMissing(s.files.Remove(dir)))
		}
	}
}

// Remove removes the directory with its contents.
func (s *Scratch) Remove() error {
	return errors.Join(resource.Delete(s.files, s.ledger.Dir(), filepath.Base(s.dir)), s.used.Unlock())
}

// LockFile returns the path of a file to lock with TryLock.
func (s *Scratch) LockFile() string { return filepath.Join(s.dir, "lock") }

// TryLock takes the lock on the file at path, as edits do, and creates the file if there is none.
// It returns disk.ErrBusy if another process has the lock.
func TryLock(path string) (disk.Lock, error) { return disk.OS{}.Lock(path, 0o600, nil) }

// Exclusive tests that creating a file does not replace another.
func (s *Scratch) Exclusive() error {
	path := filepath.Join(s.dir, "exclusive")
	if err := s.write(path, "first"); err != nil {
		return err
	}

	f, err := s.files.Create(path, 0o600)
	if err == nil {
		f.Close()
	}
	return s.refused("O_EXCL", err, path, "first")
}

// Link tests that link(2) gives a file a second name, and not a name that another file has.
func (s *Scratch) Link() error {
	one, two, new := filepath.Join(s.dir, "one"), filepath.Join(s.dir, "two"), filepath.Join(s.dir,
		"new")
	if err := errors.Join(s.write(one, "one"), s.write(two, "two")); err != nil {
		return err
	}
	if err := s.files.Link(one, new); err != nil {
		return err
	}

	named, err := s.files.Lstat(one)
	if err != nil {
		return err
	}

	linked, err := s.files.Lstat(new)
	if err == nil && linked.ID != named.ID {
		err = fmt.Errorf("%w: link(2) has made another file instead of another name", ErrUnsound)
	}
	if err != nil {
		return err
	}

	return s.refused("link(2)", s.files.Link(one, two), two, "two")
}

// Move tests that a file can be moved to the archive, and not over another file.
func (s *Scratch) Move() error {
	from, to, free := filepath.Join(s.dir, "from"), filepath.Join(s.dir, "to"), filepath.Join(s.dir,
		"free")
	if err := errors.Join(s.write(from, "from"), s.write(to, "to")); err != nil {
		return err
	}
	if err := s.refused("a renaming that is to replace nothing", s.files.Move(from, to), to,
		"to"); err != nil {
		return err
	}
	if err := s.files.Move(from, free); err != nil {
		return err
	}
	return s.has(free, "from")
}

// Replace tests that a reader sees either all of the old file or all of the new one while one is
// renamed over the other.
func (s *Scratch) Replace() error {
	const times = 50
	path, temp := filepath.Join(s.dir, "replaced"), filepath.Join(s.dir, "temp")
	texts := [2]string{fmt.Sprintf("%08192d", 0), fmt.Sprintf("%08192d", 1)}
	if err := s.write(path, texts[0]); err != nil {
		return err
	}

	stop, found := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				found <- nil
				return
			default:
			}

			err := s.has(path, texts[:]...)
			if errors.Is(err, ErrUnsound) || errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w: a reader during a renaming: %w", ErrUnsound, err)
			}

			if err != nil {
				found <- err
				return
			}
		}
	}()

	var err error
	for i := 0; i < times && err == nil; i++ {
		if err = s.write(temp, texts[i%2]); err == nil {
			err = s.files.Replace(temp, path)
		}
	}

	close(stop)

	return errors.Join(err, <-found)
}

// Sync tests that the directories of the ledger can be synced.
func (s *Scratch) Sync() error {
	var errs []error
	l := s.ledger
	for _, dir := range []string{s.dir, l.Dir(), l.OperationsDir(), l.ArchiveDir()} {
		errs = append(errs, trust.IgnoreMissing(s.files.WithFile(dir, disk.File.Sync)))
	}
	return errors.Join(errs...)
}

// write creates a new file.
func (s *Scratch) write(path, text string) error {
	return s.files.WriteNew(path, []byte(text), false)
}

// refused returns an error unless err is fs.ErrExist and the file at path still has text.
func (s *Scratch) refused(what string, err error, path, text string) error {
	if err == nil {
		return fmt.Errorf("%w: %s does not refuse a name that is taken", ErrUnsound, what)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.has(path, text)
}

// has returns an error unless the file at path has one of texts.
func (s *Scratch) has(path string, texts ...string) error {
	data, _, err := s.files.ReadFile(path)
	if err != nil {
		return err
	}

	if slices.Contains(texts, string(data)) {
		return nil
	}
	return fmt.Errorf("%w: %s has %d bytes that no one has written to it", ErrUnsound,
		filepath.Base(path), len(data))
}
