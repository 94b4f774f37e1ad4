//go:build unix

package screen

import "golang.org/x/sys/unix"

// modes are how a terminal treats what is typed.
type modes unix.Termios

// single makes a terminal send single keys, and returns how it was.
func single(fd int) (*modes, error) {
	t, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return nil, err
	}

	before := modes(*t)
	t.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	t.Iflag &^= unix.IXON // Ctrl-S would freeze the screen
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return &before, unix.IoctlSetTermios(fd, setModes, t)
}

func (m *modes) set(fd int) {
	t := unix.Termios(*m)
	unix.IoctlSetTermios(fd, setModes, &t)
}
