package protocol

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Each refusal of the protocol, by its name in the spec (§6). A refused verb returns the operation
// it was given.
var (
	ErrBadID          = errors.New("bad id")
	ErrOver           = errors.New("operation is over")
	ErrExpired        = errors.New("operation must be archived") // not a refusal: the countdown has ended (§4.5)
	ErrCorrupt        = wire.ErrCorrupt
	ErrNewerVersion   = errors.New("written by a newer version of the protocol")
	ErrNoCall         = errors.New("no such call")
	ErrDeadSupervisor = errors.New("supervisor is dead")
	ErrKnownCall      = errors.New("call is known already")
	ErrNotRunning     = errors.New("operation is not running")
	ErrOtherTiming    = errors.New("operation has another staleness threshold or interval")
	ErrOtherProcess   = errors.New("call belongs to another process")
	ErrNotAborted     = errors.New("operation is neither aborted nor in cleanup")
	ErrNotCrashed     = errors.New("call has not crashed")
	ErrNotSupervised  = errors.New("call has another supervisor")

	// ErrExhausted is also a refusal of groups.
	ErrExhausted = errors.New("a revision, or the number of an alert, is as high as it may become")
)

// The refusals of groups (spec §12). A refused verb returns the group it was given.
var (
	ErrNoService     = errors.New("no such service")
	ErrShuttingDown  = errors.New("service is shutting down")
	ErrNoStartInfo   = errors.New("service has no command to start it with")
	ErrCycle         = errors.New("service would depend on itself")
	ErrStillRunning  = errors.New("service is running")
	ErrHasDependents = errors.New("other services depend on it")
	ErrBlocked       = errors.New("it could not be started again")
)

// A DecodeError tells where and why a file is not a valid one (spec §1.3). It is ErrCorrupt, or
// ErrNewerVersion.
type DecodeError = wire.Error
