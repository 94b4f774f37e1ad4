//go:build !linux

package process

import "syscall"

// Carriers returns none: no environment can be read.
func Carriers(variable string, ids []string) []int { return nil }

// Marks returns none, likewise.
func Marks(pid int) []string { return nil }

// SignalMarked signals nothing.
func SignalMarked(id string, session int, sig syscall.Signal) (any, doubt bool) {
	return false, false
}
