package screen

import (
	"os"

	"golang.org/x/sys/windows"
)

// modes are how a console treats what is typed.
type modes uint32

// single makes a console send single keys, as escape sequences, and returns how it was. Ctrl-C
// still interrupts.
func single(fd int) (*modes, error) {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(fd), &mode); err != nil {
		return nil, err
	}

	before := modes(mode)
	mode &^= windows.ENABLE_LINE_INPUT | windows.ENABLE_ECHO_INPUT
	mode |= windows.ENABLE_PROCESSED_INPUT | windows.ENABLE_VIRTUAL_TERMINAL_INPUT
	return &before, windows.SetConsoleMode(windows.Handle(fd), mode)
}

// listen sends what is read from the console to typed until the process ends.
func listen(fd int, typed chan<- string) (stop func()) {
	go func() {
		var bytes [256]byte
		for {
			n, err := os.Stdin.Read(bytes[:])
			if err != nil {
				return
			}
			typed <- string(bytes[:n])
		}
	}()
	return func() {}
}

func (m *modes) set(fd int) { windows.SetConsoleMode(windows.Handle(fd), uint32(*m)) }
