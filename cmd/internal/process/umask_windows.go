package process

import "io/fs"

// OpenMask does nothing: there is no umask.
func OpenMask() {}

// FileMode returns the mode of a new file.
func FileMode() fs.FileMode { return 0o666 }
