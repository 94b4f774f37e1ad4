//go:build unix && !darwin

package disk

import "golang.org/x/sys/unix"

func fsync(fd int) error { return unix.Fsync(fd) }
