package disk

import (
	"errors"
	"io/fs"
	"os"

	"github.com/natefinch/atomic"
)

// dirs is empty: paths are safe here, since creating a symbolic link needs a privilege.
type dirs struct{}

func (o OS) Within(base string, admit func(string, Info) error) FS { return o.within(base, admit) }

func (o OS) within(string, func(string, Info) error) OS { return o }

func (OS) Refresh() {}

// windowsFile is a file or directory. Syncing a directory does nothing.
type windowsFile struct {
	*os.File
	dir bool
}

func openFile(path string, flags int, mode fs.FileMode) (File, error) {
	file, err := os.OpenFile(path, flags, mode)
	if err != nil {
		return nil, err
	}

	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return windowsFile{file, info.IsDir()}, nil
}

func (OS) Open(path string) (File, error) { return openFile(path, os.O_RDONLY, 0) }

func (OS) Create(path string, mode fs.FileMode) (File, error) {
	return openFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (OS) OpenAppend(path string) (File, error) { return openFile(path, os.O_RDWR|os.O_APPEND, 0) }

// CreateUnnamed returns errors.ErrUnsupported.
func (OS) CreateUnnamed(string, fs.FileMode) (File, error) { return nil, errors.ErrUnsupported }

// Link is never called: no file is without a name.
func (windowsFile) Link(string) error { return errors.ErrUnsupported }

// MountPoint returns false.
func (OS) MountPoint(string) (bool, error) { return false, nil }

// Truncate uses the name, because a file opened for appending cannot be truncated.
func (f windowsFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }

func (f windowsFile) Cut(int64) error { return errors.ErrUnsupported }

func (f windowsFile) Punch(int64, int64) error { return errors.ErrUnsupported }

func (f windowsFile) Hole() (from, to int64, err error) { return 0, 0, nil }

func (f windowsFile) Stat() (Info, error) { return infoOr(f.File.Stat()) }

func (f windowsFile) Sync() error {
	if f.dir {
		return nil
	}
	return f.File.Sync()
}

func (OS) Lstat(path string) (Info, error) { return infoOr(os.Lstat(path)) }
func (OS) Stat(path string) (Info, error)  { return infoOr(os.Stat(path)) }

// Access asks nothing: only opening a file tells.
func (OS) Access(string, uint32) error { return nil }

func (OS) tryLock(path string, create fs.FileMode) (*lockFile, bool, error) {
	lock := newLockFile(path, path, os.O_RDWR, create, func() {})
	had, err := lock.TryLock()
	return lock, had, err
}

func (OS) ReadDir(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (OS) Link(old, new string) error    { return os.Link(old, new) }
func (OS) Replace(old, new string) error { return atomic.ReplaceFile(old, new) }
func (OS) Remove(path string) error      { return os.Remove(path) }

func (OS) Mkdir(path string, mode fs.FileMode) error { return os.Mkdir(path, mode) }

func (OS) Euid() int { return os.Geteuid() }

// infoFrom leaves ID zero. An open file cannot be removed here, so a locked file always keeps its
// name.
func infoFrom(info fs.FileInfo) Info {
	return Info{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
