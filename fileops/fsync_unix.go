//go:build unix && !darwin

package fileops

import "golang.org/x/sys/unix"

func fsync(fd int) error { return unix.Fsync(fd) }
