//go:build !linux

package process

import "syscall"

// realTime returns 0: programs have no real-time signals here.
func realTime(string) syscall.Signal { return 0 }
