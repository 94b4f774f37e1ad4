package play

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new terminal of a size.
func openTerminal(columns, rows int) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}

	number := 0
	err = control(master, func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ,
			&unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
	})

	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}

	return master, slave, err
}

// control calls f with the descriptor of a file. Unlike Fd it leaves the file as it is, so that
// Close ends a read of it.
func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}

	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
