package group

import "errors"

// The refusals of groups (groups.md §12), besides those of the packages wire and observe. A refused
// verb returns the group it was given.
var (
	ErrNoService     = errors.New("no such service")
	ErrShuttingDown  = errors.New("service is shutting down")
	ErrNoStartInfo   = errors.New("service has no command to start it with")
	ErrNoDependency  = errors.New("no such dependency")
	ErrTwoClasses    = errors.New("an exit status is in two classes")
	ErrCycle         = errors.New("service would depend on itself")
	ErrStillRunning  = errors.New("service is running")
	ErrHasDependents = errors.New("other services depend on it")
	ErrSignificant   = errors.New("a significant service may not be permanent")
	ErrGroupEnded    = errors.New("group has ended")
	ErrOtherParent   = errors.New("group already belongs to another group")
	ErrTree          = errors.New("group would be below itself")
	ErrTwoMachines   = errors.New("two machines have one host id")
	ErrBlocked       = errors.New("it could not be started again")
	ErrInMaintenance = errors.New("it would stay stopped until a maintenance ends")
)

// ErrTooManyNames means that a service has spent under more than 64 names (supervision.md §27.1).
var ErrTooManyNames = errors.New("it has spent under too many names")

// ErrOtherStart means that a report is about another start of a service than the current one, or
// that the service has none.
var ErrOtherStart = errors.New("the start that the report is about is over")

// ErrBadLine is the kind of error of a BadLine.
var ErrBadLine = errors.New("bad line")
