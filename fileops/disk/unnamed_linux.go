package disk

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// CreateUnnamed needs /proc, through which Link finds the file. It says that there are no such files
// where Link could not work.
func (o OS) CreateUnnamed(dir string, mode fs.FileMode) (File, error) {
	f := &fdFile{path: dir}
	err := o.at("open", dir+"/.", func(at int, name string) (err error) {
		f.fd, err = unix.Openat(at, name, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC,
			uint32(mode.Perm()))
		return err
	})

	for _, none := range []error{unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOSYS} {
		if errors.Is(err, none) {
			return nil, errors.ErrUnsupported
		}
	}
	if err != nil {
		return nil, err
	}

	var open, found unix.Stat_t
	if unix.Fstat(f.fd, &open) != nil || unix.Stat(f.inProc(), &found) != nil ||
		infoOf(&open).ID != infoOf(&found).ID {
		f.Close()
		return nil, errors.ErrUnsupported
	}
	return f, nil
}

// Link goes through /proc, because to link a descriptor itself needs a capability.
func (f *fdFile) Link(path string) error {
	return pathError("link", path, retry(func() error {
		return unix.Linkat(unix.AT_FDCWD, f.inProc(), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	}))
}

// inProc returns a path that leads to the open file, whatever its names.
func (f *fdFile) inProc() string { return "/proc/self/fd/" + strconv.Itoa(f.fd) }
