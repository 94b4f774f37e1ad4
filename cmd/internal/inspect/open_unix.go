//go:build unix

package inspect

import "syscall"

// atOnce opens a FIFO, which may have taken the place of a file, without waiting for a writer.
const atOnce = syscall.O_NONBLOCK | syscall.O_NOCTTY
