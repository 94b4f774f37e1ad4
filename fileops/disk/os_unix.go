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
	f := &fdFile{path: path}
	err := o.at("open", path, func(dir int, name string) (err error) {
		f.fd, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Fd returns the descriptor, for a program that is to write to the file.
func (f *fdFile) Fd() uintptr { return uintptr(f.fd) }

func (f *fdFile) call(op string, do func() error) error {
	return pathError(op, f.path, retry(do))
}

// transfer is call for one that returns a number of bytes.
func (f *fdFile) transfer(op string, do func() (int, error)) (n int, err error) {
	err = f.call(op, func() error {
		n, err = do()
		return err
	})
	return max(n, 0), err
}

func (f *fdFile) Read(p []byte) (int, error) {
	n, err := f.transfer("read", func() (int, error) { return unix.Read(f.fd, p) })
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

func (f *fdFile) ReadAt(p []byte, off int64) (int, error) {
	for done := 0; ; {
		n, err := f.transfer("read",
			func() (int, error) { return unix.Pread(f.fd, p[done:], off+int64(done)) })
		if done += n; err != nil || done == len(p) {
			return done, err
		}
		if n == 0 {
			return done, io.EOF
		}
	}
}

func (f *fdFile) Write(p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		var n int
		n, err = f.transfer("write", func() (int, error) { return unix.Write(f.fd, p[written:]) })
		written += n
	}
	return written, err
}

// WriteString writes s without copying it.
func (f *fdFile) WriteString(s string) (int, error) {
	return f.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}

func (f *fdFile) Stat() (Info, error) {
	var st unix.Stat_t
	if err := f.call("stat", func() error { return unix.Fstat(f.fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func (f *fdFile) Chmod(mode fs.FileMode) error {
	return f.call("chmod", func() error { return unix.Fchmod(f.fd, modeBits(mode)) })
}

func (f *fdFile) Truncate(size int64) error {
	return f.call("truncate", func() error { return unix.Ftruncate(f.fd, size) })
}

func (f *fdFile) Cut(size int64) error {
	return f.call("cut", func() error { return collapse(f.fd, size) })
}

func (f *fdFile) Punch(from, to int64) error {
	return f.call("punch", func() error { return punch(f.fd, from, to) })
}

func (f *fdFile) Hole() (from, to int64, err error) {
	err = f.call("seek", func() error {
		from, to, err = firstHole(f.fd)
		return err
	})
	return from, to, err
}

func (f *fdFile) Sync() error { return f.call("fsync", func() error { return fsync(f.fd) }) }

// Close does not retry if a signal interrupts it: the descriptor is closed anyway.
func (f *fdFile) Close() error {
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return pathError("close", f.path, err)
	}
	return nil
}

func (o OS) Lstat(path string) (info Info, err error) {
	err = o.at("lstat", path, func(dir int, name string) error {
		var st unix.Stat_t
		err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			info = infoOf(&st)
		}
		return err
	})

	return info, err
}

func (o OS) Access(path string, want uint32) error {
	return o.at("access", path, func(dir int, name string) error {
		return unix.Faccessat(dir, name, want, unix.AT_EACCESS)
	})
}

func (OS) Stat(path string) (Info, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Stat(path, &st) }); err != nil {
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

	fd, err := openat(d.fd, name, flags)
	return fd, pathError("open", path, err)
}

func (o OS) Mkdir(path string, mode fs.FileMode) error {
	return o.at("mkdir", path, func(dir int, name string) error {
		return unix.Mkdirat(dir, name, uint32(mode.Perm()))
	})
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
	return o.at("remove", path, func(dir int, name string) error {
		err := unix.Unlinkat(dir, name, 0)
		if err == nil || err == unix.EINTR {
			return err
		}

		dirErr := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		if dirErr != unix.ENOTDIR {
			err = dirErr
		}
		return err
	})
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
		Changed: time.Unix(st.Ctim.Unix()),
		UID:     int(st.Uid),
		ID:      FileID{uint64(st.Dev), uint64(st.Ino)},
		Links:   uint64(st.Nlink),
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
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
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
