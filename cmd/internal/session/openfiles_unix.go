//go:build unix

package session

import (
	"fmt"
	"syscall"
)

// checkOpenFiles returns an error if so few files may be open at once that an edit might not
// finish. The runtime of Go ends a program that cannot open the descriptor on which it waits.
func checkOpenFiles() error {
	const least = 32
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= least {
		return nil // unlimited, or unknown
	}
	return fmt.Errorf("only %d files may be open at once: raise that to %d, with ulimit -n",
		limit.Cur, least)
}
