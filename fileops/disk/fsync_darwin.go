package disk

import "golang.org/x/sys/unix"

// fsync also flushes the drive's cache. On macOS, fsync(2) only hands the data to the drive.
func fsync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	return err
}
