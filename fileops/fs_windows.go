package fileops

import (
	"io/fs"
	"os"
)

// noFollow is 0: making a symbolic link is a privilege here.
const noFollow = 0

// windowsFile is a file; a directory has nothing to flush.
type windowsFile struct {
	*os.File
	dir bool
}

func (osFS) Open(path string) (File, error) {
	file, err := os.Open(path)
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

func (osFS) Create(path string, mode fs.FileMode) (File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return windowsFile{file, false}, nil
}

func (osFS) OpenAppend(path string) (File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return windowsFile{file, false}, nil
}

// Truncate goes by the name: what is opened to append to may not be cut.
func (f windowsFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }

func (f windowsFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

func (f windowsFile) Sync() error {
	if f.dir {
		return nil
	}
	return f.File.Sync()
}

func (osFS) Lstat(path string) (Info, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

func (osFS) Stat(path string) (Info, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

func (osFS) Mkdir(path string, mode fs.FileMode) error { return os.Mkdir(path, mode) }

func (osFS) Euid() int { return os.Geteuid() }

// infoFrom leaves ID zero: a file that is open here cannot be removed, so a lock file that is held keeps its name.
func infoFrom(info fs.FileInfo) Info {
	return Info{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
}
