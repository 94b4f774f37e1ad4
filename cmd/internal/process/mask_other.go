//go:build unix && !linux

package process

// giveMask does nothing: the umask is that of the whole process.
func giveMask() {}
