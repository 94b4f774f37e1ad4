package answer

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush forgets what was typed at the terminal f and not read yet.
func flush(f *os.File) { unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
