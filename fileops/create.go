package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/dpl-project/dpl/fileops/disk"
)

// create makes the directory and then, before anything else, ledger.json. Of several processes that do this at once, one
// decides what ledger.json says.
func (l *Ledger) create(c Config) error {
	if c.ProtocolVersion == 0 {
		c.ProtocolVersion = protocolVersion
	}
	l.config = c // for the modes of directories
	if err := l.mkdirAll(l.dir); err != nil {
		return err
	}
	if c.Commit == "" {
		shared, err := l.network()
		if err != nil {
			return err
		}
		c.Commit = commitOn(shared)
	}
	if err := c.check(); err != nil {
		return err
	}
	data, err := c.encode()
	if err != nil {
		return err
	}
	l.config = c
	info, err := l.fs.Stat(l.dir)
	if err != nil {
		return err
	}
	if err := l.trustDir(l.dir, info); err != nil {
		return err
	}
	return l.publish(l.marker(), data, l.options.Sync)
}

// createDirs makes the directories inside the ledger. Operations is the last, and may be written to only when all names
// that lead to it would survive a power cut. So whoever finds it writable has nothing to wait for; whoever does not,
// because its maker was slow or killed, does it again.
func (l *Ledger) createDirs() error {
	for _, dir := range []string{l.archive(), l.tmp()} {
		if err := l.ensureDir(dir); err != nil {
			return err
		}
	}
	err := l.fs.Mkdir(l.operations(), l.dirMode()&^0o222)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if l.options.Sync != SyncNone {
		if err := l.syncPath(); err != nil {
			return err
		}
	}
	return l.withFile(l.operations(), func(f disk.File) error {
		if info, err := f.Stat(); err != nil || writable(info) {
			return err
		}
		if err := f.Chmod(l.dirMode()); err != nil || l.options.Sync == SyncNone {
			return err
		}
		return f.Sync()
	})
}

// commitOn returns how edits have to commit on a file system that FS.Network calls shared.
func commitOn(shared string) string {
	if shared != "" {
		return CommitLink
	}
	return CommitRename
}

// network is FS.Network of the ledger. It refuses a file system on which locks do not exclude other hosts.
func (l *Ledger) network() (string, error) {
	name, err := l.fs.Network(l.dir)
	if err == nil && name == "fuse.sshfs" {
		err = fmt.Errorf("%w: %s: sshfs shares no locks between hosts: put it on a file system that does", ErrConfig, l.dir)
	}
	return name, err
}

func writable(dir disk.Info) bool { return dir.Mode&0o200 != 0 }

// syncPath makes the names in the ledger survive a power cut, and its own and those of the directories above it, which
// somebody else may have made just now. A directory far up that this user may not open, or that has no disk, was not.
func (l *Ledger) syncPath() error {
	ledger, err := l.fs.Resolve(l.dir)
	if err != nil {
		return err
	}
	for dir := ledger; ; dir = filepath.Dir(dir) {
		err := l.withFile(dir, disk.File.Sync)
		if far := len(dir) < len(filepath.Dir(ledger)); far && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL)) {
			err = nil
		}
		if err != nil || filepath.Dir(dir) == dir {
			return err
		}
	}
}

// mkdirAll makes dir, and for the user alone the directories above it.
func (l *Ledger) mkdirAll(dir string) error {
	if _, err := l.fs.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := l.mkdirAll(parent); err != nil {
			return err
		}
	}
	if dir == l.dir {
		return l.ensureDir(dir)
	}
	if err := l.fs.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// ensureDir makes one of the ledger's own directories unless it exists. It refuses one that is not safe to trust.
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

// makeDir makes a directory with the ledger's mode. On a shared ledger, whatever the umask; there somebody may put another
// directory in the place of the new one, which then keeps its mode.
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

// publish makes a new file appear at path complete and with its final mode, unless there is one already. It does not
// fsync the directory.
func (l *Ledger) publish(path string, data []byte, sync Sync) error {
	temp := tempOf(path)
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
