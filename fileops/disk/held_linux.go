package disk

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// heldFile is a file that was opened through the descriptor of another process.
type heldFile struct {
	*fdFile
	name    string
	refused error // why it cannot be changed
}

// OpenHeld looks before it opens, because to open a device may have an effect, and once more after
// that: the process may have opened another file in between.
func (OS) OpenHeld(pid int, is func(FileID) bool) (Held, error) {
	for _, fd := range []string{"1", "2"} {
		path := "/proc/" + strconv.Itoa(pid) + "/fd/" + fd
		var st unix.Stat_t
		if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || !is(infoOf(&st).ID) {
			continue
		}

		name, err := os.Readlink(path)
		if err != nil {
			continue
		}
		f := heldFile{fdFile: &fdFile{path: name}, name: name}
		open := func(mode int) error {
			return retry(func() (err error) {
				f.fd, err = unix.Open(path, mode|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
				return err
			})
		}
		if err = open(unix.O_RDWR | unix.O_APPEND); err == unix.EROFS || err == unix.EACCES {
			f.refused = pathError("open", name, err)
			err = open(unix.O_RDONLY)
		}
		if err != nil {
			return nil, pathError("open", path, err)
		}

		if info, err := f.Stat(); err == nil && is(info.ID) {
			return f, nil
		}
		f.Close()
	}

	return nil, fs.ErrNotExist
}

func (f heldFile) Name() string { return f.name }

func (f heldFile) TryLock() error {
	if f.refused != nil {
		return f.refused
	}
	err := retry(func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return ErrBusy
	}
	return pathError("lock", f.path, err)
}
