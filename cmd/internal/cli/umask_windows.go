package cli

// openMask does nothing: there is no umask.
func openMask() {}
