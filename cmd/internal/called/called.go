// Package called tells a program that is several commands which one it was called as.
//
// A link to the program has the name of the command. Whoever executes it may pass another name, such
// as exec -a of a shell; then the name of the file counts.
package called

import (
	"os"
	"path/filepath"
	"strings"
)

// Name returns the name by which this program was called, without a directory and .exe.
func Name() string {
	if len(os.Args) == 0 {
		return ""
	}
	return base(os.Args[0])
}

// File returns the name of the file that was executed, without a directory and .exe: that of a
// link, not of what it leads to. It makes that the name by which this program was called.
func File() string {
	path := executed()
	os.Args = append([]string{path}, os.Args[min(1, len(os.Args)):]...)
	return base(path)
}

func base(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

// Shift makes the first argument of dpl a part of the name by which it was called: dpl push is
// dpl-push from now on, on Linux for ps and /proc as well. There must be such an argument.
func Shift() {
	name := joined()
	if name == "" {
		name = "dpl-" + os.Args[1]
	}
	os.Args = append([]string{name}, os.Args[2:]...)
}
