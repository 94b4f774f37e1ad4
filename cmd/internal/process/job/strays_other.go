//go:build !linux

package job

import "syscall"

// Adopt does nothing: this system gives orphans to nobody but its first process.
func Adopt() {}

// Strays finds none on this system.
func (j *Job) Strays() []int { return nil }

func (j *Job) orphans() []int { return nil }

// StrayEnd knows of none.
func (j *Job) StrayEnd() (code int, signal syscall.Signal, dumped, ok bool) {
	return 0, 0, false, false
}

func (j *Job) signalStrays(syscall.Signal) bool { return false }
