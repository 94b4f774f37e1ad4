package process

import (
	"golang.org/x/sys/unix"
)

// read returns what a single read of the file at path puts into buf, without white space at its
// end, or nothing on an error. Package os would register each file with the poller, which costs
// more than everything else that a heartbeat reads from /proc.
func read(path string, buf []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)

	n, err := unix.Read(fd, buf)
	if err != nil {
		return nil
	}

	for n > 0 && (buf[n-1] == '\n' || buf[n-1] == ' ') {
		n--
	}

	return buf[:n]
}

// link returns the target of the symbolic link at path.
func link(path string) (string, error) {
	var buf [64]byte
	n, err := unix.Readlink(path, buf[:])
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
