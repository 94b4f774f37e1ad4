// Package runner runs a command for a program that is its part in the ledger: a call, an attempt at
// a task, or a service. It sends heartbeats, passes signals on, keeps time limits, and stops what
// the command has left.
package runner

import (
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/sdnotify"
)

// A Runner runs one command. The exported fields are set before Run.
type Runner struct {
	Env     *cli.Env
	Account *Account
	Signals chan os.Signal
	Keeper  *job.Keeper // until the job takes it over
	Name    string      // of the command's part in the ledger, in messages
	OK      Success     // exit statuses that count as success

	SoftSignal                                syscall.Signal
	KillAfter, SoftTimeout, Timeout, Watchdog time.Duration

	Heart    Heart
	Listener *Listener // nil: silence does not matter

	// Explain returns the meaning of a heartbeat's status other than 0, and its subject.
	Explain func(status int) string
	// End records how the command ended, and returns what that edit found out. It is repeated for
	// Patience if the command has failed; 0 is the usual patience.
	End      func(End) (Verdict, error)
	Patience time.Duration

	Behind     bool // the command gets the terminal of a caller that waits for it: see job.StartBehind
	Daemonizes bool // what outlives a successful command, outside its group, is what it is about
	MayFail    bool // End may fail although the command has ended well
	Notify     bool // it gets a NOTIFY_SOCKET

	// The next ones are nil where there is nothing to do.

	Lacks       func(error) bool       // the command cannot be started for lack of something
	Tidy        func()                 // what a push does for others; it may take long
	Follows     func(End) bool         // another attempt of the command follows that end
	Fail        func(End) error        // records a failure before the rest of the command is stopped
	CutOff      func(left []int)       // a command that has ended well has left these processes
	HasCallees  func() bool            // other calls are below this one
	StopCallees func() <-chan struct{} // stops those, and closes the channel when that is done

	// Quiet says that the operation's failure is printed elsewhere, once.
	Quiet bool

	job      *job.Job
	closed   *job.Job
	socket   *sdnotify.Socket // nil without Notify
	interval time.Duration    // between two looks at the ledger

	beats  beats
	why    ending // why it was stopped, if that decides the exit status
	phase  phase
	next   time.Time // when the next phase begins; zero: not by itself
	soft   time.Time // when to ask it to end; zero: never, or done
	hard   time.Time // when to stop it
	silent time.Time // when the watchdog stops it
	late   time.Time // when to catch the signals that no one sends to a command that has just started

	told       bool      // TERM came
	asked      bool      // a signal came by which people end commands
	begun      time.Time // when the first attempt was started
	command    *End      // how the command ended, if job is the one that judges it
	background bool      // it has ended well, and the processes it left continue as the service

	ready   <-chan struct{} // in the phase delaying: see termAfter
	failing chan struct{}   // closed once the failure is recorded; nil: the command has not failed
}

// A phase is how far a runner has gone to end the command and its group.
type phase int

const (
	running  phase = iota // the command runs, or what it has left may end by itself
	delaying              // TERM will be sent once others are ready
	stopping              // TERM was sent
	killed                // KILL was sent as well; the next phase is to give up
)

// An ending is an exit status that overrides the command's own, and its reason.
type ending struct {
	status int
	reason string
	silent bool // because the command wrote nothing
}

// New returns a runner with the limits of flags.
func New(env *cli.Env, a *Account, flags *Flags) *Runner {
	ok := flags.OK
	ok[0] = true
	return &Runner{Env: env, Account: a, OK: ok,
		SoftSignal:  syscall.Signal(flags.SoftSignal),
		SoftTimeout: time.Duration(flags.SoftTimeout),
		Timeout:     time.Duration(flags.Timeout),
		KillAfter:   time.Duration(flags.KillAfter),
	}
}

// Ended reports whether the command itself has ended. What it has left may still run.
func (r *Runner) Ended() bool {
	select {
	case <-r.job.Ended():
		return true
	default:
		return false
	}
}

// EndOfCommand returns how the command ended.
func (r *Runner) EndOfCommand() End {
	switch {
	case r.command != nil:
		return *r.command
	case r.Ended():
		return EndOf(r.job, r.OK)
	}
	return End{Failure: "not ended"} // it was killed, but the kernel cannot end it yet
}

// EndsWell reports whether the command has ended well, and nothing has overridden that.
func (r *Runner) EndsWell() bool { return r.EndOfCommand().Failure == "" && r.why.status == 0 }

// Stopped reports whether the runner has stopped the command, or was asked to.
func (r *Runner) Stopped() bool { return r.why.status != 0 || r.asked }
