package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/sdnotify"
	"github.com/dpl-project/dpl/protocol/observe"
)

// lastWords is how long the rest of the group may take to end by itself after the command, such as
// a tee that the command writes to.
const lastWords = time.Second

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

	killAfter, softTimeout, timeout, watchdog time.Duration

	beats  beats
	why    ending // why it was stopped, if that decides the exit status
	phase  phase
	next   time.Time // when the next phase begins; zero: not by itself
	soft   time.Time // when to ask it to end; zero: never, or done
	hard   time.Time // when to stop it
	silent time.Time // when the watchdog stops it
	late   time.Time // when to catch the signals that no one sends to a command that has just started

	background bool // the command has ended well, and the processes it left continue as the service
}

// A phase is how far a runner has gone to end the command and its group.
type phase int

const (
	running  phase = iota // the command runs, or what it has left may end by itself
	stopping              // TERM was sent
	killed                // KILL was sent as well; the next phase is to give up
)

// An ending is an exit status that overrides the command's own, and its reason.
type ending struct {
	status int
	reason string
}

// follow handles events until the command and its group have ended.
func (r *runner) follow(interval time.Duration) {
	start := time.Now()
	r.soft, r.hard = after(start, r.softTimeout), after(start, r.timeout)
	r.silent = after(start, r.watchdog)
	r.late = start.Add(settled)
	r.beats.start(r.role, interval)
	ended := r.job.Ended()
	var messages <-chan sdnotify.Message
	if r.socket != nil {
		messages = r.socket.Messages()
	}

	for {
		wake := earliest(r.next, r.soft, r.hard, r.silent, r.late, r.beats.due())
		select {
		case <-r.job.Empty():
			r.finishBeats()
			return
		case <-ended:
			ended = nil
			r.stopRest()
		case sig := <-r.signals:
			r.forward(sig.(syscall.Signal))
		case m, ok := <-messages:
			if r.hear(m); !ok { // the socket has failed
				messages = nil
			}
		case b := <-r.beats.made:
			r.learn(b)
		case <-time.After(time.Until(wake)):
			if !r.onTime(time.Now()) {
				r.finishBeats()
				return
			}
		}

		r.beats.next(time.Now(), r.why.status == cli.StatusCleanUp)
	}
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
		r.stop(ending{cli.StatusTimeout, "timed out after " + r.timeout.String()})
	}

	if due(r.silent) {
		r.silent = time.Time{}
		r.stop(ending{cli.StatusTimeout, "silent for " + r.watchdog.String()})
	}

	if !due(r.next) {
		return true
	}

	switch r.phase {
	case running:
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

// leftBehind stops the processes that the command left when it ended, unless they are a service
// that has gone into the background.
func (r *runner) leftBehind() {
	strays := r.job.Strays()
	var names []string
	for _, pid := range strays {
		names = append(names, fmt.Sprintf("%d (%s)", pid, process.Name(pid)))
	}

	said := strings.Join(names, ", ")
	if len(strays) > 0 && r.role.daemonizes() && endOf(r.job, r.ok).failure == "" {
		r.next, r.background = time.Time{}, true
		r.env.Warnf("%s: the command has gone into the background: %s: dpl-run stays until it ends",
			r.role.name(), said)
		return
	}

	if len(strays) > 0 {
		r.env.Warnf("%s: the command has left processes outside its process group: stopping %s",
			r.role.name(), said)
	}

	r.term()
}

// ask asks the command to end.
func (r *runner) ask() {
	r.env.Warnf("%s: %v have passed: sending %s", r.role.name(), r.softTimeout,
		process.SignalName(r.softSignal))
	note := "asked to end after " + r.softTimeout.String()
	r.beats.say(observe.Report{Note: &note})
	r.signal(r.softSignal)
}

// stop stops the command because of why. Only the first reason counts.
func (r *runner) stop(why ending) {
	if r.why.status == 0 {
		r.why = why
		said := why.reason
		if why.status == cli.StatusTimeout {
			said = r.role.name() + ": " + said
		}
		r.env.Warnf("%s: stopping the command", said)
	}

	if r.phase == running {
		r.term()
	}
}

// stopRest stops the rest of the group a little later, when the command itself has ended.
func (r *runner) stopRest() {
	r.noLimits()
	if r.next.IsZero() {
		r.next = time.Now().Add(min(lastWords, r.killAfter))
	}
}

// term starts to stop the group.
func (r *runner) term() {
	r.noLimits()
	r.phase, r.next = stopping, time.Now().Add(r.killAfter)
	r.signal(syscall.SIGTERM)
}

func (r *runner) noLimits() {
	r.soft, r.hard, r.silent = time.Time{}, time.Time{}, time.Time{}
}

// forward passes a signal on to the group. TERM starts to stop it.
func (r *runner) forward(sig syscall.Signal) {
	if sig == syscall.SIGTERM && r.phase == running {
		r.term()
		return
	}
	r.signal(sig)
}

func (r *runner) signal(sig syscall.Signal) {
	if err := r.job.Signal(sig); err != nil && err != process.ErrNoProcess {
		r.env.Warnf("%s: send %s: %v", r.role.name(), process.SignalName(sig), err)
	}
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
		r.stop(ending{cli.StatusTimeout, "watchdog triggered"})
	}

	r.beats.say(say)
}

// learn handles the result of a look or heartbeat.
func (r *runner) learn(b beat) {
	if b.err != nil && !r.beats.failing {
		r.env.Warnf("%v", b.err)
	}
	r.beats.learn(b)
	if b.status != cli.StatusOK {
		r.stop(ending{b.status, r.role.explain(b.status)})
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
