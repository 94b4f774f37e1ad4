package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// EnsureDir creates one of the ledger's own directories unless it exists. It returns an error for
// one that is not safe to trust.
func (f *FS) EnsureDir(dir string) error { return f.ensureDir(dir, false) }

// EnsureDurableDir is EnsureDir for a directory that has to survive a power cut together with the
// files in it: it syncs the name of a new one.
func (f *FS) EnsureDurableDir(dir string) error { return f.ensureDir(dir, true) }

func (f *FS) ensureDir(dir string, durable bool) error {
	err := f.MakeDir(dir)
	if err == nil && durable {
		return f.SyncDir(filepath.Dir(dir))
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}

	info, err := f.Lstat(dir)
	if err != nil {
		return err
	}
	return f.CheckDir(dir, info)
}

// MakeDir creates a directory with the ledger's mode; on a shared ledger, whatever the umask. There
// another user may replace the new directory, whose mode then stays.
func (f *FS) MakeDir(dir string) error {
	err := f.Mkdir(dir, f.DirMode())
	if err != nil || !f.Shared {
		return err
	}
	return f.WithFile(dir, func(opened disk.File) error {
		info, err := opened.Stat()
		switch {
		case err != nil:
			return err
		case !info.Mode.IsDir() || info.UID != f.UID:
			return fmt.Errorf("%s: %w: it was replaced just now", dir, fs.ErrPermission)
		}
		return opened.Chmod(f.DirMode())
	})
}

// Publish makes a new file appear at path, complete and with its final mode, unless there is one.
// It syncs a file with content, but not the directory.
func (f *FS) Publish(path string, data []byte) error {
	temp := layout.TempOf(path)
	if err := f.WriteNew(temp, data, data != nil); err != nil {
		return err
	}

	err := f.Link(temp, path)
	if err != nil {
		if _, statErr := f.Lstat(path); statErr == nil {
			err = nil
		}
	}

	if removeErr := f.Remove(temp); err == nil && !errors.Is(removeErr, fs.ErrNotExist) {
		err = removeErr
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}

	return nil
}

// WriteNew creates a file with data, with the ledger's mode whatever the umask.
func (f *FS) WriteNew(path string, data []byte, sync bool) error {
	return f.Fill(path, func(file disk.File) error {
		if _, err := file.Write(data); err != nil || !sync {
			return err
		}
		return f.SyncFile(file)
	})
}

// WriteOver replaces the file at path, if any, by what write writes.
func (f *FS) WriteOver(path string, write func(disk.File) error) error {
	temp := layout.TempOf(path)
	if err := f.Fill(temp, write); err != nil {
		return err
	}
	if err := f.Replace(temp, path); err != nil {
		return errors.Join(err, f.RemoveIfThere(temp))
	}
	return nil
}

// Fill creates a file and lets write write it. If that fails, it removes the file.
func (f *FS) Fill(path string, write func(disk.File) error) error {
	file, err := f.CreateFile(path)
	if err != nil {
		return err
	}

	err = write(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		f.Remove(path)
	}

	return err
}

// CreateFile creates a file with the ledger's mode whatever the umask.
func (f *FS) CreateFile(path string) (disk.File, error) {
	file, err := f.Create(path, f.fileMode())
	if err != nil || !f.Shared {
		return file, err
	}

	if err := file.Chmod(f.fileMode()); err != nil {
		file.Close()
		f.Remove(path)
		return nil, err
	}

	return file, nil
}

// CreateUnnamedFile is CreateFile for a file in dir that has no name (disk.FS.CreateUnnamed).
func (f *FS) CreateUnnamedFile(dir string) (disk.File, error) {
	file, err := f.CreateUnnamed(dir, f.fileMode())
	if err != nil || !f.Shared {
		return file, err
	}
	if err := file.Chmod(f.fileMode()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// WithFile calls do with the file or directory at path, open for reading.
func (f *FS) WithFile(path string, do func(disk.File) error) error {
	file, err := f.Open(path)
	if err != nil {
		return err
	}

	err = do(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// SyncFile makes the contents of a file survive a power cut, unless Sync asks for less.
func (f *FS) SyncFile(file disk.File) error {
	if f.Sync == disk.SyncNone {
		return nil
	}
	return file.Sync()
}

// SyncDir makes the names in a directory survive a power cut, unless Sync asks for less.
func (f *FS) SyncDir(path string) error {
	if !f.SyncsNames(false) {
		return nil
	}
	return f.WithFile(path, disk.File.Sync)
}

// SyncsNames reports whether the names that an edit has changed must survive a power cut. A beat is
// an edit that need not.
func (f *FS) SyncsNames(beat bool) bool {
	return f.Sync == disk.SyncFull || f.Sync == disk.SyncDefault && !beat
}
