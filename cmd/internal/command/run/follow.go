package run

import (
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/sdnotify"
	"github.com/dpl-project/dpl/protocol/observe"
)

// settled is how long a command runs before the less common signals are caught as well. See
// catchAll.
const settled = 10 * time.Millisecond

// A runner runs one command.
type runner struct {
	env        *cli.Env
	role       role
	account    *account
	signals    chan os.Signal
	keeper     *job.Keeper // until the job takes it over
	job        *job.Job
	socket     *sdnotify.Socket // nil without --notify
	ok         success
	softSignal syscall.Signal
	start      func(path string, argv, env []string, files []uintptr, keeper *job.Keeper) (*job.Job, error)
	publishes  bool     // the end of the call may fail although the command has ended well
	retries    *retries // nil: there is one attempt

	killAfter, softTimeout, timeout, watchdog time.Duration

	listener *listener // nil: silence does not matter

	beats  beats
	why    ending // why it was stopped, if that decides the exit status
	phase  phase
	next   time.Time // when the next phase begins; zero: not by itself
	soft   time.Time // when to ask it to end; zero: never, or done
	hard   time.Time // when to stop it
	silent time.Time // when the watchdog stops it
	late   time.Time // when to catch the signals that no one sends to a command that has just started

	told       bool          // TERM came
	asked      bool          // a signal came by which people end commands
	spent      time.Duration // since the start of the first attempt
	command    *end          // how the command ended, if job is the one that judges it
	closed     *job.Job
	background bool // the command has ended well, and the processes it left continue as the service

	ready   <-chan struct{} // in the phase delaying: see termAfter
	failing chan struct{}   // closed once the failure of the command is recorded; nil: it has not failed
}

// follow handles events until the command and its group have ended.
func (r *runner) follow(interval time.Duration) {
	start := time.Now()
	r.soft, r.hard = after(start, r.softTimeout), after(start.Add(-r.spent), r.timeout)
	r.silent = after(start, r.watchdog)
	r.late = start.Add(settled)
	r.beats.start(r.role, interval)
	ended := r.job.Ended()
	var messages <-chan sdnotify.Message
	if r.socket != nil {
		messages = r.socket.Messages()
	}
	news := r.listener.start(r.job.PID())
	defer r.listener.stop()

	for {
		wake := earliest(r.next, r.soft, r.hard, r.silent, r.late, r.beats.due())
		select {
		case <-r.job.Empty():
			r.finishBeats()
			return
		case <-ended:
			ended = nil
			if e := endOf(r.job, r.ok); r.why.status == 0 && e.failure != "" &&
				(r.asked || !r.retries.follows(e)) {
				e.told = r.told
				r.fail(e)
			}
			r.stopRest()
		case sig := <-r.signals:
			r.forward(sig.(syscall.Signal))
		case m, ok := <-messages:
			if r.hear(m); !ok { // the socket has failed
				messages = nil
			}
		case b := <-r.beats.made:
			r.learn(b)
		case n := <-news:
			r.ignoreHere(n)
		case <-r.ready:
			r.ready = nil
			r.leftBehind()
		case <-time.After(time.Until(wake)):
			if !r.onTime(time.Now()) {
				r.finishBeats()
				return
			}
		}

		r.beats.next(time.Now(), r.cleaning())
	}
}

// cleaning reports whether the operation is failing and TERM was sent to what is left of the command:
// heartbeats say so, because the calls below this one hold their pipes until then.
func (r *runner) cleaning() bool {
	return (r.why.status == cli.StatusCleanUp || r.failing != nil) && r.phase >= stopping
}

func after(t time.Time, d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return t.Add(d)
}

// earliest returns the earliest of times, ignoring zeros. It returns a time in an hour at the
// latest.
func earliest(times ...time.Time) time.Time {
	first := time.Now().Add(time.Hour)
	for _, t := range times {
		if !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}

// onTime does everything due now. It returns false if the rest of the group must be left alone.
func (r *runner) onTime(now time.Time) bool {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if due(r.late) {
		r.late = time.Time{}
		catchAll(r.signals)
	}

	if due(r.soft) {
		r.soft = time.Time{}
		r.ask()
	}

	if due(r.hard) {
		r.hard = time.Time{}
		r.stop(ending{status: cli.StatusTimeout, reason: "timed out after " + r.timeout.String()})
	}

	if due(r.silent) {
		r.silent = time.Time{}
		r.stop(ending{status: cli.StatusTimeout, reason: "silent for " + r.watchdog.String()})
	}

	if !due(r.next) {
		return true
	}

	switch r.phase {
	case running:
		r.termAfter(r.failing)
	case delaying:
		r.leftBehind()
	case stopping:
		r.phase, r.next = killed, now.Add(max(r.killAfter, lastWords))
		r.signal(syscall.SIGKILL)
	case killed:
		r.env.Warnf("%s: killed, but still there: processes %v", r.role.name(),
			append(r.job.Left(), r.job.Strays()...))
		return false
	}

	return true
}

// hear handles a message that the command sent by sd_notify.
func (r *runner) hear(m sdnotify.Message) {
	say := observe.Report{Note: m.Status}
	switch {
	case m == sdnotify.Message{}:
		return
	case m.Ready:
		say.Readiness = observe.ReadinessReady
	case m.Reloading:
		say.Readiness = observe.ReadinessStarting
	case m.Stopping:
		say.Readiness = observe.ReadinessStopping
	}

	if m.Barrier != nil {
		r.beats.barrier(m.Barrier)
		return
	}

	if m.Watchdog && !r.silent.IsZero() {
		r.silent = time.Now().Add(r.watchdog)
	}
	if m.Trigger && !r.silent.IsZero() {
		r.stop(ending{status: cli.StatusTimeout, reason: "watchdog triggered"})
	}

	r.beats.say(say)
}

// learn handles the result of a look or heartbeat.
func (r *runner) learn(b beat) {
	if b.err != nil && !r.beats.failing {
		r.env.Warnf("%v", b.err)
	}
	r.beats.learn(b)
	if b.status == cli.StatusCleanUp && r.failing != nil {
		return // because of this command
	}
	if b.status != cli.StatusOK {
		r.stop(ending{status: b.status, reason: r.role.explain(b.status)})
	}
}

// finishBeats makes sure that every report of the command is in the ledger.
func (r *runner) finishBeats() {
	if r.socket != nil {
		r.socket.Finish()
		for m := range r.socket.Messages() {
			r.hear(m)
		}
	}
	r.beats.finish()
}
