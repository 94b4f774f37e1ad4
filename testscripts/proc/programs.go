package proc

import (
	"io/fs"
	"os"
	"syscall"
)

// WriteProgram is os.WriteFile for a file that will be executed. Meanwhile this process starts no
// other: a child has the open file as well until it executes its program, and nobody can execute a
// file that is open for writing.
func WriteProgram(path string, text []byte, mode fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, text, mode)
}
