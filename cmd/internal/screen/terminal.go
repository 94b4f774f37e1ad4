package screen

import (
	"os"

	"golang.org/x/term"
)

// Size returns the size of the terminal on stdout. terminal is false if stdout is no
// terminal or does not obey escape sequences.
func Size() (width, height int, terminal bool) { return sizeOf(os.Stdout) }

func sizeOf(f *os.File) (width, height int, terminal bool) {
	fd := int(f.Fd())
	width, height, err := term.GetSize(fd)
	if err != nil || !understandsEscapes(fd) {
		return 0, 0, false
	}

	if width == 0 || height == 0 {
		width, height = 80, 24 // a terminal that does not know its size
	}
	return width, height, true
}
