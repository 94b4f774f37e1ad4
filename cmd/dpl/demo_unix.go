//go:build unix && !solaris && !aix

package main

import (
	"os"
	"syscall"
)

// tryLock locks a file, and fails at once if another process has locked it.
func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// isMine reports whether the user of this process owns a file.
func isMine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
