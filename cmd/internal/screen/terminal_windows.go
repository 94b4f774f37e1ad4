package screen

import "golang.org/x/sys/windows"

// understandsEscapes reports whether a console obeys escape sequences, which are off by default in old
// ones.
func understandsEscapes(fd int) bool {
	var mode uint32
	err := windows.GetConsoleMode(windows.Handle(fd), &mode)
	return err == nil && mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0
}
