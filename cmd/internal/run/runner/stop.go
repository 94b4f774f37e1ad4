package runner

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/observe"
)

// LastWords is how long the rest of the group may take to end by itself after the command, such as
// a tee that the command writes to.
const LastWords = time.Second

// emptied is how long it may take to find that a command which has ended has left nothing.
const emptied = 20 * time.Millisecond

// leftBehind stops the processes that the command left when it ended, unless they are a service
// that has gone into the background.
func (r *Runner) leftBehind() {
	strays := r.job.Strays()
	said := Names(strays)
	endsWell := func() bool {
		return r.why.status == 0 && r.Ended() && EndOf(r.job, r.OK).Failure == ""
	}
	if len(strays) > 0 && r.Daemonizes && endsWell() {
		r.next, r.background = time.Time{}, true
		r.Env.Warnf("%s: the command has gone into the background: %s: %s stays until it ends",
			r.Name, said, r.Account.Program)
		return
	}

	if len(strays) > 0 {
		r.Env.Warnf("%s: the command has left processes outside its process group: stopping %s",
			r.Name, said)
	}

	if r.CutOff != nil && endsWell() {
		r.CutOff(append(r.job.Left(), strays...))
	}

	r.term()
}

// Names returns processes for people.
func Names(pids []int) string {
	var all []string
	for _, pid := range pids {
		all = append(all, fmt.Sprintf("%d (%s)", pid, process.Name(pid)))
	}
	return strings.Join(all, ", ")
}

// ask asks the command to end.
func (r *Runner) ask() {
	r.Env.Warnf("%s: %v have passed: sending %s", r.Name, r.SoftTimeout,
		process.SignalName(r.SoftSignal))
	note := "asked to end after " + r.SoftTimeout.String()
	r.beats.say(observe.Report{Note: &note})
	r.signal(r.SoftSignal)
}

// stop stops the command because of why. Only the first reason counts.
func (r *Runner) stop(why ending) {
	if r.why.status == 0 {
		r.why = why
		said := why.reason
		if why.status == cli.StatusTimeout {
			said = r.Name + ": " + said
		}
		if r.Quiet && why.status == cli.StatusCleanUp {
			r.Env.Logf("%s: stopping the command", said)
		} else {
			r.Env.Warnf("%s: stopping the command", said)
		}
	}

	if r.phase != running {
		return
	}
	switch {
	case why.status == cli.StatusTimeout:
		r.fail(End{Failure: why.reason, Stopped: why.status})
		r.termAfter(r.failing)
	case r.StopCallees != nil && why.status == cli.StatusCleanUp:
		r.termAfter(r.StopCallees())
	default:
		r.term()
	}
}

// termAfter stops the group, or what is left of it, once ready is closed, but after LastWords at
// the latest. Other events are handled before that, and TERM does not wait any longer.
func (r *Runner) termAfter(ready <-chan struct{}) {
	if ready == nil {
		r.leftBehind()
		return
	}
	r.noLimits()
	r.phase, r.ready, r.next = delaying, ready, time.Now().Add(LastWords)
}

// fail records that the command has failed with e, beside the runner. Nothing is left to do if
// nothing is left of the command.
func (r *Runner) fail(e End) {
	select {
	case <-r.job.Empty():
		return
	default:
	}
	ended, done := r.Ended(), make(chan struct{})
	r.failing = done
	go func() {
		defer close(done)
		if ended { // usually nothing is left, which is known a moment later
			select {
			case <-r.job.Empty():
				return
			case <-time.After(emptied):
			}
		}
		if r.Fail == nil {
			return
		}
		if err := r.Fail(e); err != nil {
			r.Env.Logf("%v", err) // the end will be recorded as well
		}
	}()
}

// stopRest stops the rest of the group a little later, when the command itself has ended.
func (r *Runner) stopRest() {
	r.noLimits()
	if r.next.IsZero() {
		r.next = time.Now().Add(min(LastWords, r.KillAfter))
	}
}

// term starts to stop the group.
func (r *Runner) term() {
	r.noLimits()
	r.phase, r.ready, r.next = stopping, nil, time.Now().Add(r.KillAfter)
	r.signal(syscall.SIGTERM)
	if r.cleaning() {
		r.beats.hurry()
	}
}

// cleaning reports whether the operation is failing and TERM was sent to what is left of the
// command: heartbeats say so, because the calls below this one hold their pipes until then.
func (r *Runner) cleaning() bool {
	return (r.why.status == cli.StatusCleanUp || r.failing != nil) && r.phase >= stopping
}

func (r *Runner) noLimits() {
	r.soft, r.hard, r.silent = time.Time{}, time.Time{}, time.Time{}
	r.Listener.stop()
}

// forward passes a signal on to the group. TERM starts to stop it.
func (r *Runner) forward(sig syscall.Signal) {
	r.told = r.told || sig == syscall.SIGTERM
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		r.asked = true
	}
	if sig == syscall.SIGTERM && r.phase < stopping {
		if r.HasCallees != nil && r.phase == running && !r.Ended() && r.HasCallees() {
			// Otherwise the first of them to end would seem to be the cause.
			r.fail(End{Failure: r.Account.Program + " got SIGTERM"})
			r.termAfter(r.failing)
			return
		}
		r.term()
		return
	}
	r.signal(sig)
}

func (r *Runner) signal(sig syscall.Signal) {
	if err := r.job.Signal(sig); err != nil && err != process.ErrNoProcess {
		r.Env.Warnf("%s: send %s: %v", r.Name, process.SignalName(sig), err)
	}
}
