package cli

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// Exit statuses, the same for every command.
const (
	StatusOK          = 0
	StatusFalse       = 1  // condition false
	StatusCleanUp     = 3  // aborting or cleaning up: clean up and pop
	StatusOver        = 4  // the operation is over
	StatusCrashed     = 5  // you were declared crashed
	StatusUsage       = 64 // bad flags or ids
	StatusCorrupt     = 65 // a file is not valid
	StatusNotFound    = 66 // no such operation, call or service
	StatusUnavailable = 69 // a supervisor or process is dead
	StatusBug         = 70
	StatusCommitted   = 71 // committed, durability unknown; or unknown whether it is committed
	StatusCreate      = 73 // cannot create
	StatusIO          = 74 // nothing changed
	StatusBusy        = 75 // nothing changed, retry
	StatusRefused     = 76 // by the protocol
	StatusPermission  = 77
	StatusConfig      = 78
	StatusTimeout     = 124
	StatusOwn         = 125 // dpl-run itself failed, not its command
	StatusCannotRun   = 126
	StatusNoCommand   = 127
)

// ErrPartial means that a pass over a group has made its first commit but did not get to its end.
var ErrPartial = errors.New("the pass is made, but not to its end")

// ErrImpossible and ErrTimeout end a wait that did not come to what was waited for.
var (
	ErrImpossible = errors.New("it will not come to that")
	ErrTimeout    = errors.New("timed out")
)

// An outcome is what the user can do about an error.
type outcome struct {
	err    error
	status int
	cure   string
}

// errPrinted means that the edit is made, but nobody was told.
var errPrinted = errors.New("committed")

// soFar is an error that came after a commit, of which its own status would say that nothing has changed.
type soFar struct{ cause error }

func (e soFar) Error() string {
	return fmt.Sprintf("%v: what was done before that is committed", e.cause)
}

// AfterCommits returns err, or if this command has committed something, and err would say by its status that nothing has
// changed, the same with the status of what is committed (71).
func (env *Env) AfterCommits(err error) error {
	_, exit := errors.AsType[exitError](err)
	if status := StatusOf(err); exit || !env.committed || status != StatusIO && status != StatusBusy {
		return err
	}
	return WithStatus(StatusCommitted, soFar{err})
}

// ExitAfterCommits is Exit for a command that edits several operations: worst is the worst status
// of them. If something is committed, it does not say that nothing has changed.
func (env *Env) ExitAfterCommits(worst int) error {
	if env.committed && (worst == StatusIO || worst == StatusBusy) {
		env.Warnf("part of the work is committed: look at dpl-status before you repeat it")
		worst = StatusCommitted
	}
	return Exit(worst)
}

// reuse is what to do about an operation that has ended.
const reuse = "a push with --reuse begins it anew; dpl-pop --keep-open, of its last call, would have kept it open"

var outcomes = []outcome{
	{ErrImpossible, StatusFalse, ""},
	{ErrTimeout, StatusTimeout, ""},
	{ErrPartial, StatusCommitted, "the next pass goes on"},
	{errPrinted, StatusCommitted, "do not repeat it, look at dpl-status"},
	{fileops.ErrUnknown, StatusCommitted, "look at dpl-status before you repeat it"},
	{fileops.ErrCommitted, StatusCommitted, "do not repeat it, look at dpl-status"},
	{protocol.ErrOver, StatusOver, ""},
	{fileops.ErrArchived, StatusOver, reuse},
	{errEnded, StatusRefused, reuse},
	{protocol.ErrNewerVersion, StatusConfig, ""},
	{protocol.ErrCorrupt, StatusCorrupt, "repair the file or move it away"},
	{protocol.ErrBadID, StatusUsage, ""},
	{protocol.ErrNoCall, StatusNotFound, "dpl-status shows the calls"},
	{fileops.ErrNotFound, StatusNotFound, "dpl-status shows the operations"},
	{fileops.ErrNoLedger, StatusNotFound, "the first dpl-push, dpl-run or dpl-register makes it; or set --ledger or $DPL_LEDGER"},
	{fileops.ErrNoGroup, StatusNotFound, "dpl-register makes it"},
	{protocol.ErrNoService, StatusNotFound, "dpl-status --group shows the services"},
	{protocol.ErrDeadSupervisor, StatusUnavailable, "its next heartbeat makes it alive"},
	{process.ErrNoProcess, StatusUnavailable, ""},
	{fileops.ErrCannotCreate, StatusCreate, ""},
	{fileops.ErrBusy, StatusBusy, "try again, or raise --lock-timeout"},
	{protocol.ErrKnownCall, StatusRefused, "choose another --call"},
	{protocol.ErrNotRunning, StatusRefused, "start a new operation"},
	{protocol.ErrOtherTiming, StatusRefused, "leave out --staleness and --interval"},
	{protocol.ErrOtherProcess, StatusRefused, "it is alive: use the --pid it was given before"},
	{protocol.ErrNotAborted, StatusRefused, "there is nothing to clean up"},
	{protocol.ErrNotCrashed, StatusRefused, "only a crashed call can be acknowledged"},
	{protocol.ErrNotSupervised, StatusRefused, ""},
	{protocol.ErrExhausted, StatusRefused,
		"nothing that counts by one comes there: put a lower one into the file"},
	{protocol.ErrShuttingDown, StatusRefused, "wait until it has stopped; dpl-restart starts it again then"},
	{protocol.ErrNoStartInfo, StatusRefused, "dpl-register --request -- COMMAND gives it one"},
	{protocol.ErrCycle, StatusRefused, "leave out one --depends-on"},
	{protocol.ErrStillRunning, StatusRefused, "dpl-shutdown stops it"},
	{protocol.ErrHasDependents, StatusRefused, "dpl-status --group shows them"},
	{protocol.ErrBlocked, StatusRefused, "bring that back first: dpl-restart --service, or dpl-register"},
	{fileops.ErrResource, StatusRefused, "name a path inside $DPL_TMP or resourceRoots of ledger.json"},
	{fileops.ErrCaseFold, StatusRefused, "choose another"},
	{fileops.ErrTooLarge, StatusRefused, "pop what has ended, or begin another operation"},
	{fileops.ErrPermission, StatusPermission, ""},
	{fileops.ErrConfig, StatusConfig, ""},
}

// errSilent marks an error that says nothing but its status.
var errSilent = errors.New("")

type exitError int

func (e exitError) Error() string        { return fmt.Sprintf("exit status %d", int(e)) }
func (e exitError) Is(target error) bool { return target == errSilent }

// Exit returns an error that ends the command with status and prints nothing; nil for 0.
func Exit(status int) error {
	if status == StatusOK {
		return nil
	}
	return exitError(status)
}

// withStatus is an error with a status of its own.
type withStatus struct {
	error
	status int
}

func (e withStatus) Unwrap() error { return e.error }

// WithStatus gives err, unless it is nil, has one of its own or is one of usage, the exit status.
func WithStatus(status int, err error) error {
	_, usage := errors.AsType[usageError](err)
	_, has := errors.AsType[withStatus](err)
	_, exit := errors.AsType[exitError](err)
	if err == nil || usage || has || exit {
		return err
	}
	return withStatus{err, status}
}

type usageError string

func (e usageError) Error() string { return string(e) }

// Usagef returns an error with status 64.
func Usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// StatusOf returns the exit status of err. What is not known here is an error of the operating system.
func StatusOf(err error) int {
	if err == nil {
		return StatusOK
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return int(e)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return StatusUsage
	}
	if e, ok := errors.AsType[withStatus](err); ok {
		return e.status
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.status
		}
	}
	return StatusIO
}

func cure(err error) string {
	if _, ok := errors.AsType[usageError](err); ok {
		return ""
	}
	if _, ok := errors.AsType[soFar](err); ok {
		return "look at dpl-status before you repeat it"
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.cure
		}
	}
	return ""
}

// worstFirst is how statuses over several files rank; others come before all of these.
var worstFirst = []int{StatusCorrupt, StatusIO, StatusBusy, StatusCrashed, StatusCleanUp, StatusOver, StatusOK}

// Worse returns the worse of two exit statuses.
func Worse(a, b int) int {
	if rank(b) < rank(a) {
		return b
	}
	return a
}

func rank(status int) int {
	for i, s := range worstFirst {
		if s == status {
			return i
		}
	}
	return -1
}
