//go:build !linux

package job

import "syscall"

// Adopt does nothing: on this system only the first process gets orphans.
func Adopt() {}

// Strays returns none on this system.
func (j *Job) Strays() []int { return nil }

func (j *Job) orphans() []int { return nil }

// StrayEnd returns false: no strays are known.
func (j *Job) StrayEnd() (how End, ok bool) { return End{}, false }

func (j *Job) signalStrays(syscall.Signal) bool { return false }
