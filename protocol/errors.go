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
	ErrRunning        = errors.New("operation is running")
	ErrStopping       = errors.New("operation is being stopped")
	ErrDeadCalls      = errors.New("all calls of the operation are dead") // a cleanup must follow
	ErrSupervised     = errors.New("a supervisor must clean up a crashed call first")
)
