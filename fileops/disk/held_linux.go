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
	name string
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
		const flags = unix.O_RDWR | unix.O_APPEND | unix.O_NONBLOCK | unix.O_CLOEXEC
		f := heldFile{&fdFile{path: name}, name}
		err = retry(func() (err error) {
			f.fd, err = unix.Open(path, flags, 0)
			return err
		})
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
	err := retry(func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return ErrBusy
	}
	return pathError("lock", f.path, err)
}
