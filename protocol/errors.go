package protocol

import "errors"

// Each refusal of the protocol, by its name in the spec (§6), besides those of packages wire and
// observe. A refused verb returns the operation it was given.
var (
	ErrOver           = errors.New("operation is over")
	ErrExpired        = errors.New("operation must be archived") // not a refusal: the countdown has ended (§4.5)
	ErrNoCall         = errors.New("no such call")
	ErrDeadSupervisor = errors.New("supervisor is dead")
	ErrKnownCall      = errors.New("call is known already")
	ErrNotRunning     = errors.New("operation is not running")
	ErrOtherTiming    = errors.New("operation has another staleness threshold or interval")
	ErrNotAborted     = errors.New("operation is neither aborted nor in cleanup")
	ErrNotCrashed     = errors.New("call has not crashed")
	ErrNotSupervised  = errors.New("call has another supervisor")
)
