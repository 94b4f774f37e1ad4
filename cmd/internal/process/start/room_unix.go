//go:build unix

package start

import (
	"os"
	"syscall"
)

// A gate holds perStart descriptors from its spawn to its release. A pass needs spare ones for
// everything else.
const perStart, spare = 3, 16

// Room returns for how many commands at once this process has descriptors, before it releases the
// first of them; nil: for any number. The runtime of Go has raised the limit as far as it may.
func Room() *int {
	var limit syscall.Rlimit
	const many = 1 << 20
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= many {
		return nil
	}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		open = nil // few, except in a pass that stays
	}
	room := max((int(limit.Cur)-len(open)-spare)/perStart, 1)
	return &room
}
