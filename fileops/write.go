package fileops

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// ensureDir creates one of the ledger's own directories unless it exists. It returns an error for
// one that is not safe to trust.
func (l *Ledger) ensureDir(dir string) error {
	err := l.makeDir(dir)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}

	info, err := l.fs.Lstat(dir)
	if err != nil {
		return err
	}
	return l.trustDir(dir, info)
}

// makeDir creates a directory with the ledger's mode; on a shared ledger, whatever the umask. There
// another user may replace the new directory, whose mode then stays.
func (l *Ledger) makeDir(dir string) error {
	err := l.fs.Mkdir(dir, l.dirMode())
	if err != nil || !l.config.Shared {
		return err
	}
	return l.withFile(dir, func(f disk.File) error {
		info, err := f.Stat()
		switch {
		case err != nil:
			return err
		case !info.Mode.IsDir() || info.UID != l.euid:
			return fmt.Errorf("%s: %w: it was replaced just now", dir, ErrPermission)
		}
		return f.Chmod(l.dirMode())
	})
}

// publish makes a new file appear at path, complete and with its final mode, unless there is one.
// It does not sync the directory.
func (l *Ledger) publish(path string, data []byte, sync Sync) error {
	temp := layout.TempOf(path)
	if err := l.writeNew(temp, data, sync); err != nil {
		return err
	}

	err := l.fs.Link(temp, path)
	if err != nil {
		if _, statErr := l.fs.Lstat(path); statErr == nil {
			err = nil
		}
	}

	if removeErr := l.fs.Remove(temp); err == nil && !errors.Is(removeErr, fs.ErrNotExist) {
		err = removeErr
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}

	return nil
}

// writeNew creates a file with data, with the ledger's mode whatever the umask.
func (l *Ledger) writeNew(path string, data []byte, sync Sync) error {
	f, err := l.createFile(path)
	if err != nil {
		return err
	}

	_, err = f.Write(data)
	if err == nil && sync != SyncNone {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		l.fs.Remove(path)
	}

	return err
}

func (l *Ledger) createFile(path string) (disk.File, error) {
	f, err := l.fs.Create(path, l.fileMode())
	if err != nil || !l.config.Shared {
		return f, err
	}

	if err := f.Chmod(l.fileMode()); err != nil {
		f.Close()
		l.fs.Remove(path)
		return nil, err
	}

	return f, nil
}

func (l *Ledger) withFile(path string, do func(disk.File) error) error {
	f, err := l.fs.Open(path)
	if err != nil {
		return err
	}

	err = do(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
