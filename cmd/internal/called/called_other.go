//go:build !linux

package called

import "os"

// executed returns the path of this program, or "".
func executed() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// joined returns "": only on Linux is it known where the arguments are.
func joined() string { return "" }
