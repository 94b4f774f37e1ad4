//go:build unix && !linux

package process

// RestoreUmask does nothing: the umask is that of the whole process.
func RestoreUmask() {}
