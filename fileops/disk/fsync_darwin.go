package disk

import "golang.org/x/sys/unix"

// fsync asks the drive too: fsync(2) of macOS only hands the data to it.
func fsync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	return err
}
