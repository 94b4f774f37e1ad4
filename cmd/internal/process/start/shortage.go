package start

import (
	"errors"
	"slices"
	"syscall"
)

// A shortage is an error that says something about this host or this process, and nothing about the
// command: a later start may succeed.
type shortage struct{ error }

// Unwrap returns the cause of x.
func (x shortage) Unwrap() error { return x.error }

// errUnbegun means that a stage has ended before it became the command, for example because it could
// create no thread.
var errUnbegun = shortage{errors.New("its process ended before it became the command")}

// Short reports whether err, of Spawn or Release, means that the host or this process lacks
// something that it may have later: memory, descriptors, processes, space, a device, or a right
// (spec/groups.md §11.5).
func Short(err error) bool {
	var short shortage
	if errors.As(err, &short) {
		return true
	}
	return slices.ContainsFunc(shortages(), func(errno error) bool { return errors.Is(err, errno) })
}

func shortages() []error {
	return []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EDQUOT,
		syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.ENXIO, syscall.ESTALE,
	}
}
