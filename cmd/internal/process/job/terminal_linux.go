package job

import "golang.org/x/sys/unix"

// modes returns the modes of the terminal fd, or nil.
func modes(fd int) *unix.Termios {
	found, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	return found
}

// setModes sets the modes of the terminal fd, unless they are nil.
func setModes(fd int, modes *unix.Termios) {
	if modes != nil {
		unix.IoctlSetTermios(fd, unix.TCSETS, modes)
	}
}
