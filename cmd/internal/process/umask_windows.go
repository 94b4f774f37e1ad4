package process

// OpenMask does nothing: there is no umask.
func OpenMask() {}
