package process

import "io/fs"

// OpenMask does nothing: there is no umask.
func OpenMask() {}

// Umask returns false: there is none.
func Umask() (mask int, known bool) { return 0, false }

// FileMode returns the mode of a new file.
func FileMode() fs.FileMode { return 0o666 }
