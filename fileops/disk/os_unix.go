//go:build unix

package disk

import (
	"io"
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fdFile is a file without the finalizer of os.File and without the epoll calls of os.OpenFile.
type fdFile struct {
	fd   int
	path string
}

// Open does not wait for the other end of a named pipe. A caller that needs a regular file checks
// with Stat.
func (o OS) Open(path string) (File, error) {
	return o.openFile(path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
}

func (o OS) Create(path string, mode fs.FileMode) (File, error) {
	return o.openFile(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, uint32(mode.Perm()))
}

// OpenAppend does not wait for a named pipe either.
func (o OS) OpenAppend(path string) (File, error) {
	return o.openFile(path, unix.O_RDWR|unix.O_APPEND|unix.O_NONBLOCK, 0)
}

func (o OS) openFile(path string, flags int, mode uint32) (File, error) {
	file, err := o.open(path, flags, mode)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (o OS) open(path string, flags int, mode uint32) (*fdFile, error) {
	fd, err := o.at("open", path, func(dir int, name string) (int, error) {
		return unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, err
	}
	return &fdFile{fd, path}, nil
}

func (f *fdFile) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p) })
	if err != nil {
		return 0, pathError("read", f.path, err)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *fdFile) ReadAt(p []byte, off int64) (int, error) {
	for done := 0; ; {
		n, err := retry(func() (int, error) { return unix.Pread(f.fd, p[done:], off+int64(done)) })
		if err != nil {
			return done, pathError("read", f.path, err)
		}
		if done += n; done == len(p) {
			return done, nil
		}
		if n == 0 {
			return done, io.EOF
		}
	}
}

func (f *fdFile) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, err := retry(func() (int, error) { return unix.Write(f.fd, p[written:]) })
		if err != nil {
			return written, pathError("write", f.path, err)
		}
		written += n
	}

	return written, nil
}

// WriteString writes s without copying it.
func (f *fdFile) WriteString(s string) (int, error) {
	return f.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}

func (f *fdFile) Stat() (Info, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, &st) }); err != nil {
		return Info{}, pathError("stat", f.path, err)
	}
	return infoOf(&st), nil
}

func (f *fdFile) Chmod(mode fs.FileMode) error {
	_, err := retry(func() (int, error) { return 0, unix.Fchmod(f.fd, modeBits(mode)) })
	return pathError("chmod", f.path, err)
}

func (f *fdFile) Truncate(size int64) error {
	_, err := retry(func() (int, error) { return 0, unix.Ftruncate(f.fd, size) })
	return pathError("truncate", f.path, err)
}

func (f *fdFile) Cut(size int64) error {
	_, err := retry(func() (int, error) { return 0, collapse(f.fd, size) })
	return pathError("cut", f.path, err)
}

func (f *fdFile) Sync() error {
	_, err := retry(func() (int, error) { return 0, fsync(f.fd) })
	return pathError("fsync", f.path, err)
}

// Close does not retry if a signal interrupts it: the descriptor is closed anyway.
func (f *fdFile) Close() error {
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return pathError("close", f.path, err)
	}
	return nil
}

func (o OS) Lstat(path string) (info Info, err error) {
	_, err = o.at("lstat", path, func(dir int, name string) (int, error) {
		var st unix.Stat_t
		err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			info = infoOf(&st)
		}
		return 0, err
	})

	return info, err
}

func (OS) Stat(path string) (Info, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Stat(path, &st) }); err != nil {
		return Info{}, pathError("stat", path, err)
	}
	return infoOf(&st), nil
}

// ReadDir lists the directory that it has opened, so no one can make it list a directory that admit
// has not accepted.
func (o OS) ReadDir(path string) ([]string, error) {
	fd, err := o.openDir(path)
	if err != nil {
		return nil, err
	}
	list := os.NewFile(uintptr(fd), path)
	defer list.Close()
	return list.Readdirnames(-1)
}

func (o OS) openDir(path string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
	d, _, err := o.dirs.parent(path + "/.")
	if err != nil {
		return 0, err
	}
	defer d.done()

	name := "."
	if d == here {
		name = path
	}

	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, flags, 0) })

	return fd, pathError("open", path, err)
}

func (o OS) Mkdir(path string, mode fs.FileMode) error {
	_, err := o.at("mkdir", path, func(dir int, name string) (int, error) {
		return 0, unix.Mkdirat(dir, name, uint32(mode.Perm()))
	})
	return err
}

func (o OS) Link(old, new string) error {
	return o.between("link", old, new, func(oldDir int, old string, newDir int, new string) error {
		return unix.Linkat(oldDir, old, newDir, new, 0)
	})
}

func (o OS) Replace(old, new string) error { return o.between("rename", old, new, replace) }

// Remove tries both calls, as os.Remove does, because systems disagree about the error of the wrong
// one.
func (o OS) Remove(path string) error {
	_, err := o.at("remove", path, func(dir int, name string) (int, error) {
		err := unix.Unlinkat(dir, name, 0)
		if err == nil || err == unix.EINTR {
			return 0, err
		}

		dirErr := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		if dirErr != unix.ENOTDIR {
			err = dirErr
		}
		return 0, err
	})

	return err
}

func (OS) Euid() int { return unix.Geteuid() }

func infoOf(st *unix.Stat_t) Info {
	mode := fs.FileMode(st.Mode & 0o777)
	if st.Mode&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if st.Mode&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}

	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}

	return Info{
		Size:    st.Size,
		Mode:    mode,
		ModTime: time.Unix(st.Mtim.Unix()),
		UID:     int(st.Uid),
		ID:      FileID{uint64(st.Dev), uint64(st.Ino)},
	}
}

func modeBits(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	return bits
}

// retry repeats a call that a signal interrupted. Network file systems may return EINTR even though
// Go asks for restarts.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// pathError returns err with the call and the path that failed. An unexpected symbolic link becomes
// ErrSymlink.
func pathError(op, path string, err error) error {
	switch err {
	case nil:
		return nil
	case unix.ELOOP:
		return &fs.PathError{Op: op, Path: path, Err: ErrSymlink}
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
