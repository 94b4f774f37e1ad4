package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Exit statuses, the same for every command.
const (
	StatusOK          = 0
	StatusFalse       = 1  // condition false
	StatusCleanUp     = 3  // aborting or cleaning up: clean up and pop
	StatusOver        = 4  // the operation is over
	StatusCrashed     = 5  // you were declared crashed
	StatusAsked       = 6  // a service is asked for a checkpoint
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
	StatusOwn         = 125 // dpl-run, dpl-work or dpl-serve itself failed, not its command
	StatusCannotRun   = 126
	StatusNoCommand   = 127
)

// ErrPartial means that a pass over a group made its first commit but did not finish.
var ErrPartial = errors.New("the pass was committed but not completed")

// ErrImpossible and ErrTimeout are the errors of a wait that did not reach its goal.
var (
	ErrImpossible = errors.New("it can no longer happen")
	ErrTimeout    = errors.New("timed out")
)

// StatusOfVerdict returns the exit status of a heartbeat.
func StatusOfVerdict(v observe.Verdict) int {
	switch v {
	case observe.VerdictCleanUp:
		return StatusCleanUp
	case observe.VerdictOver:
		return StatusOver
	case observe.VerdictCrashed:
		return StatusCrashed
	case observe.VerdictAsked:
		return StatusAsked
	}

	return StatusOK
}

// An outcome is the exit status for an error, and a way to fix it.
type outcome struct {
	err    error
	status int
	cure   string
}

// errPrinted means that an edit was made, but its result could not be printed.
var errPrinted = errors.New("committed")

// soFar is an error after a commit whose own status would mean that nothing has changed.
type soFar struct{ cause error }

func (e soFar) Error() string {
	return fmt.Sprintf("%v: everything done before that is committed", e.cause)
}

// AfterCommits returns err. If this command has committed something, and the status of err would
// mean that nothing has changed, it returns err with the status 71 instead.
func (env *Env) AfterCommits(err error) error {
	if is[exitError](err) || is[result](err) || !env.Committed() || !saysUnchanged(StatusOf(err)) {
		return err
	}
	return WithStatus(StatusCommitted, soFar{err})
}

// saysUnchanged reports whether status says to try again, because nothing has changed.
func saysUnchanged(status int) bool { return status == StatusIO || status == StatusBusy }

// ExitAfterCommits is Exit for a command that edits several operations: worst is the worst status
// of them. If something is committed, it does not say that nothing has changed.
func (env *Env) ExitAfterCommits(worst int) error {
	if env.Committed() && saysUnchanged(worst) {
		env.Warnf("part of the work is committed: look at dpl-status before you repeat it")
		worst = StatusCommitted
	}
	return Exit(worst)
}

// reuse is the advice for an operation that has ended.
const reuse = "start it over with dpl-push --reuse; dpl-pop --keep-open of its last call would " +
	"have kept it open"

// outcomes returns what each error means. A table made of variables of other packages would be made
// in each start.
func outcomes() []outcome {
	return []outcome{
		// without a ledger there is no operation, group or queue either
		{fileops.ErrNoLedger, StatusNotFound,
			"dpl-push, dpl-run, dpl-register or dpl-enqueue creates it; or set --ledger or $DPL_LEDGER"},
		{ErrImpossible, StatusFalse, ""},
		{ErrTimeout, StatusTimeout, ""},
		{ErrPartial, StatusCommitted, "the next pass completes it"},
		{errPrinted, StatusCommitted, "do not repeat it: look at dpl-status"},
		{fileops.ErrUnknown, StatusCommitted, "look at dpl-status before you repeat it"},
		{fileops.ErrCommitted, StatusCommitted, "do not repeat it: look at dpl-status"},
		{protocol.ErrOver, StatusOver, ""},
		{protocol.ErrRunning, StatusBusy, ""},
		{protocol.ErrStopping, StatusBusy, ""},
		{protocol.ErrSupervised, StatusRefused, "dpl-status shows which one"},
		{fileops.ErrArchived, StatusOver, reuse},
		{session.ErrEnded, StatusRefused, reuse},
		{wire.ErrNewerVersion, StatusConfig, ""},
		{wire.ErrCorrupt, StatusCorrupt, "repair the file or move it away"},
		{wire.ErrBadID, StatusUsage, ""},
		{session.ErrNoDir, StatusUsage, ""},
		{protocol.ErrNoCall, StatusNotFound, "dpl-status shows the calls"},
		{fileops.ErrNotFound, StatusNotFound, "dpl-status shows the operations"},
		{fileops.ErrNoGroup, StatusNotFound, "dpl-register creates it"},
		{group.ErrNoService, StatusNotFound, "dpl-status --group GROUP shows the services"},
		{queue.ErrNoQueue, StatusNotFound, "dpl-enqueue or dpl-queue --create creates it"},
		{fileops.ErrNoRecord, StatusNotFound, ""},
		{fileops.ErrEmptyLog, StatusRefused, "there is nothing to seal"},
		{fileops.ErrLastPart, StatusRefused, "give that part its own number"},
		{audit.ErrPending, StatusIO, "make room, or let this user write the log"},
		{queue.ErrNoTask, StatusNotFound, "dpl-status --queue shows the tasks"},
		{queue.ErrNoDependency, StatusNotFound, "enqueue it first, or in the same batch"},
		{queue.ErrBadQueueID, StatusUsage, ""},
		{queue.ErrBadTaskID, StatusUsage, ""},
		{queue.ErrLost, StatusCrashed, "stop working on it: another attempt may have begun"},
		{queue.ErrKnownTask, StatusRefused, "choose another id, or --replace it while it waits"},
		{queue.ErrClaimed, StatusRefused, "only a waiting task can be replaced"},
		{queue.ErrNotDead, StatusRefused, "dpl-status --queue --why TASK says what it waits for"},
		{queue.ErrEnded, StatusRefused, "enqueue it under another id"},
		{queue.ErrCycle, StatusRefused, "leave out one of them"},
		{queue.ErrClosed, StatusRefused, "dpl-queue --open opens it"},
		{queue.ErrFull, StatusRefused, "wait until some have ended"},
		{queue.ErrGone, StatusUnavailable, ""},
		{queue.ErrHolds, StatusRefused, "settle it first; --mine prints it"},
		{queue.ErrHeld, StatusRefused, ""},
		{queue.ErrSettled, StatusRefused, "an attempt is settled once"},
		{queue.ErrNotAsk, StatusRefused, "questions are in ask and ask.NAME"},
		{queue.ErrOnlyAsk, StatusRefused, "dpl-ask asks; tasks are for other queues"},
		{queue.ErrNotQuestion, StatusRefused, "dpl-settle settles a task"},
		{queue.ErrOtherKind, StatusRefused, ""},
		{queue.ErrDecided, StatusRefused, "the first answer counts"},
		{queue.ErrOver, StatusOver, "nobody waits for the answer any more"},
		{queue.ErrChanged, StatusRefused, "read it again, and answer that"},
		{queue.ErrUnsigned, StatusRefused, "give --sign KEY"},
		{queue.ErrUnchecked, StatusRefused, "answer it outside of that container, or give --allow-self"},
		{queue.ErrTakenID, StatusRefused, ""},
		{queue.ErrUnrecorded, StatusRefused, "somebody has edited the file: dpl-audit --verify tells"},
		{queue.ErrOwn, StatusRefused, "somebody else must answer it, or give --allow-self"},
		{queue.ErrOtherPolicy, StatusRefused, "leave out --create to change the policy"},
		{queue.ErrOtherHalts, StatusRefused, "resume it --as them"},
		{queue.ErrNotManual, StatusRefused, "set a number first: --permits 0"},
		{queue.ErrNotEmpty, StatusRefused, "cancel them: dpl-enqueue --cancel"},
		{protocol.ErrDeadSupervisor, StatusUnavailable, "its next heartbeat revives it"},
		{process.ErrNoProcess, StatusUnavailable, ""},
		{fileops.ErrCannotCreate, StatusCreate, ""},
		{fileops.ErrBusy, StatusBusy, "try again, or raise --lock-timeout"},
		{protocol.ErrKnownCall, StatusRefused, "choose another --call"},
		{protocol.ErrNotRunning, StatusRefused, "start a new operation"},
		{protocol.ErrOtherTiming, StatusRefused, "leave out --staleness and --interval"},
		{observe.ErrOtherProcess, StatusRefused, "it is alive: use the --pid it was given before"},
		{protocol.ErrNotAborted, StatusRefused, "there is nothing to clean up"},
		{observe.ErrNotReady, StatusRefused, "report --readiness ready first"},
		{protocol.ErrNotCrashed, StatusRefused, "only a crashed call can be acknowledged"},
		{protocol.ErrNotSupervised, StatusRefused, ""},
		{wire.ErrExhausted, StatusRefused,
			"no edit can have counted that far: put a lower one into the file"},
		{group.ErrShuttingDown, StatusRefused, "wait until it has stopped, then use dpl-restart"},
		{group.ErrNoStartInfo, StatusRefused, "set one with dpl-register --request -- COMMAND"},
		{group.ErrNoDependency, StatusRefused, "add it to the file, or register it first"},
		{group.ErrTwoClasses, StatusRefused, "leave it in one list of --exit-status"},
		{group.ErrGroupEnded, StatusRefused,
			"dpl-register --resume, or dpl-restart --all, lets it run again"},
		{group.ErrOtherParent, StatusRefused,
			"a group is one service at most: remove that one, or choose another group"},
		{group.ErrSignificant, StatusRefused, "give --restart transient or temporary"},
		{group.ErrCycle, StatusRefused, "leave out one of the dependencies"},
		{group.ErrTree, StatusRefused, "choose a group that is not above it"},
		{group.ErrStillRunning, StatusRefused, "stop it with dpl-shutdown"},
		{group.ErrTooManyNames, StatusRefused, "use fewer names"},
		{group.ErrOtherStart, StatusRefused, "dpl-status --group GROUP shows the service as it is"},
		{group.ErrHasDependents, StatusRefused, "dpl-status --group GROUP shows them"},
		{group.ErrTwoMachines, StatusRefused,
			"dpl-doctor says how to give one of them another"},
		{group.ErrBlocked, StatusRefused,
			"bring that back first: dpl-restart --service, or dpl-register"},
		{group.ErrInMaintenance, StatusRefused,
			"add --only, or end that first: dpl-register --maintenance off"},
		{fileops.ErrPublish, StatusRefused, ""},
		{fileops.ErrResource, StatusRefused,
			"name a path inside $DPL_TMP or resourceRoots of ledger.json"},
		{fileops.ErrCaseFold, StatusRefused, "choose another"},
		{fileops.ErrTooLarge, StatusRefused, ""},
		{fileops.ErrUnreadable, StatusRefused, ""},
		{fileops.ErrPermission, StatusPermission, ""},
		{fileops.ErrConfig, StatusConfig, ""},
	}
}

// errSilent marks an error that is not printed.
var errSilent = errors.New("")

// A statusError is an error that has an exit status of its own.
type statusError interface {
	error
	status() int
}

type exitError int

func (e exitError) Error() string        { return fmt.Sprintf("exit status %d", int(e)) }
func (e exitError) Is(target error) bool { return target == errSilent }
func (e exitError) status() int          { return int(e) }

// Silent returns err, which the command then does not print, because another one does.
func Silent(err error) error { return silent{err} }

type silent struct{ error }

func (e silent) Unwrap() error        { return e.error }
func (e silent) Is(target error) bool { return target == errSilent }

// Exit returns an error that ends the command with status and prints nothing. It returns nil for 0.
func Exit(status int) error {
	if status == StatusOK {
		return nil
	}
	return exitError(status)
}

type withStatus struct {
	error
	code int
}

func (e withStatus) Unwrap() error { return e.error }
func (e withStatus) status() int   { return e.code }

// WithStatus gives err the exit status. It returns err unchanged if err is nil, has a status of its
// own, or is a usage error.
func WithStatus(status int, err error) error {
	if err == nil || is[statusError](err) {
		return err
	}
	return withStatus{err, status}
}

type usageError string

func (e usageError) Error() string { return string(e) }
func (e usageError) status() int   { return StatusUsage }

// Usagef returns an error with status 64.
func Usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// A result is an error whose status is what the command has to say, also after a commit.
type result struct{ withStatus }

// ResultIs gives err the status that is the result of the command.
func ResultIs(status int, err error) error { return result{withStatus{err, status}} }

// is reports whether err is, or wraps, an E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// StatusOf returns the exit status for err. Unknown errors count as errors of the operating system.
func StatusOf(err error) int {
	if err == nil {
		return StatusOK
	}
	if e, ok := errors.AsType[statusError](err); ok {
		return e.status()
	}
	return outcomeOf(err).status
}

func outcomeOf(err error) outcome {
	for _, o := range outcomes() {
		if errors.Is(err, o.err) {
			return o
		}
	}
	return outcome{status: StatusIO}
}

func cure(err error) string {
	switch {
	case is[usageError](err):
		return ""
	case is[soFar](err):
		return "look at dpl-status before you repeat it"
	case errors.Is(err, ErrPartial) && errors.Is(err, wire.ErrCorrupt):
		return "repair the file or move it away, and the next pass completes it"
	}
	advice := outcomeOf(err).cure
	if n, about := errors.AsType[named](err); about {
		advice = strings.ReplaceAll(advice, "GROUP", n.object)
	}
	return advice
}

// worstFirst ranks the statuses of several files, worst first. All other statuses are worse than
// these.
var worstFirst = []int{StatusCorrupt, StatusIO, StatusBusy, StatusCrashed, StatusCleanUp,
	StatusOver, StatusAsked, StatusOK}

// Worse returns the worse of two exit statuses.
func Worse(a, b int) int {
	if slices.Index(worstFirst, b) < slices.Index(worstFirst, a) {
		return b
	}
	return a
}
