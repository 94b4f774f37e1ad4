package start

import (
	"errors"
	"slices"
	"syscall"

	"github.com/dpl-project/dpl/protocol/group/policy"
)

// A shortage is an error that says something about this host or this process, and nothing about the
// command: a later start may succeed.
type shortage struct{ error }

// Unwrap returns the cause of x.
func (x shortage) Unwrap() error { return x.error }

// A misfit is an error that remains until a person changes something: no later start succeeds
// before.
type misfit struct{ error }

// Unwrap returns the cause of x.
func (x misfit) Unwrap() error { return x.error }

// Class returns the class of a start that failed with err, of Spawn or Release: Tempfail after a
// shortage, Terminal if no later start succeeds, or "" (spec/groups.md §11.5).
func Class(err error) policy.Class {
	var never misfit
	switch {
	case errors.As(err, &never):
		return policy.Terminal
	case short(err):
		return policy.Tempfail
	}
	return ""
}

// errUnbegun means that a stage has ended before it became the command, for example because it
// could create no thread.
var errUnbegun = shortage{errors.New("its process ended before it became the command")}

// short reports whether err means that the host or this process lacks something that it may have
// later: memory, descriptors, processes, space, a device, or a right.
func short(err error) bool {
	var lacks shortage
	if errors.As(err, &lacks) {
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
