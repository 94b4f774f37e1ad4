package screen

import "golang.org/x/sys/windows"

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

func (m *modes) set(fd int) { windows.SetConsoleMode(windows.Handle(fd), uint32(*m)) }
