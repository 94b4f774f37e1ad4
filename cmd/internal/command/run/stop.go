package run

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/observe"
)

// lastWords is how long the rest of the group may take to end by itself after the command, such as
// a tee that the command writes to.
const lastWords = time.Second

// emptied is how long it may take to find that a command which has ended has left nothing.
const emptied = 20 * time.Millisecond

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

// leftBehind stops the processes that the command left when it ended, unless they are a service
// that has gone into the background.
func (r *runner) leftBehind() {
	strays := r.job.Strays()
	said := names(strays)
	endsWell := func() bool { return r.why.status == 0 && r.ended() && endOf(r.job, r.ok).failure == "" }
	if len(strays) > 0 && r.role.daemonizes() && endsWell() {
		r.next, r.background = time.Time{}, true
		r.env.Warnf("%s: the command has gone into the background: %s: dpl-run stays until it ends",
			r.role.name(), said)
		return
	}

	if len(strays) > 0 {
		r.env.Warnf("%s: the command has left processes outside its process group: stopping %s",
			r.role.name(), said)
	}

	if c, is := r.role.(*call); is && endsWell() {
		c.cutOff(append(r.job.Left(), strays...), r.retries.files(c.files()))
	}

	r.term()
}

// names returns processes for people.
func names(pids []int) string {
	var all []string
	for _, pid := range pids {
		all = append(all, fmt.Sprintf("%d (%s)", pid, process.Name(pid)))
	}
	return strings.Join(all, ", ")
}

// cutOff fails the call if one of pids, which its command has left and which will be stopped, may
// still write what others take for whole: a result, or the input of the next stage (spec §15.2).
// files are the descriptors of the command, or nil.
func (c *call) cutOff(pids []int, files []uintptr) {
	out, dir := -1, ""
	switch {
	case c.flags.To != "" || files != nil && c.passesOn():
		out = int(files[1])
	case c.passesOn():
		out = 1
	}
	if len(c.flags.results.sources) > 0 {
		dir = c.tmp()
	}
	if writing := stillWriting(pids, out, dir); len(writing) > 0 {
		c.flags.results.fail(fmt.Errorf("use its output: when the command had ended, %s could still "+
			"write to it", names(writing)))
	}
}

// passesOn reports whether stdout leads to another stage of a pipeline in the operation.
func (c *call) passesOn() bool {
	return len(c.callers) > 0 && slices.Contains(c.flags.held, 1) &&
		len((&hold{ledger: c.ledger, observe: c.env.Observer(), op: c.op, callers: c.callers,
			held: []int{1}}).own()) > 0
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
		if _, is := r.role.(*call); is && why.status == cli.StatusCleanUp {
			// The outermost dpl-run prints why, once.
			r.env.Logf("%s: stopping the command", said)
		} else {
			r.env.Warnf("%s: stopping the command", said)
		}
	}

	if r.phase != running {
		return
	}
	switch c, is := r.role.(interface{ stopCallees() <-chan struct{} }); {
	case why.status == cli.StatusTimeout:
		r.fail(end{failure: why.reason, stopped: why.status})
		r.termAfter(r.failing)
	case is && why.status == cli.StatusCleanUp:
		r.termAfter(c.stopCallees())
	default:
		r.term()
	}
}

// termAfter stops the group, or what is left of it, once ready is closed, but after lastWords at the
// latest. Other events are handled before that, and TERM does not wait any longer.
func (r *runner) termAfter(ready <-chan struct{}) {
	if ready == nil {
		r.leftBehind()
		return
	}
	r.noLimits()
	r.phase, r.ready, r.next = delaying, ready, time.Now().Add(lastWords)
}

// fail records that the command has failed with e, beside the runner. Nothing is left to do if
// nothing is left of the command.
func (r *runner) fail(e end) {
	select {
	case <-r.job.Empty():
		return
	default:
	}
	ended, done := r.ended(), make(chan struct{})
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
		if err := r.role.fail(e); err != nil {
			r.env.Logf("%v", err) // the end will be recorded as well
		}
	}()
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
	r.phase, r.ready, r.next = stopping, nil, time.Now().Add(r.killAfter)
	r.signal(syscall.SIGTERM)
	if r.cleaning() {
		r.beats.hurry()
	}
}

func (r *runner) noLimits() {
	r.soft, r.hard, r.silent = time.Time{}, time.Time{}, time.Time{}
	r.listener.stop()
}

// forward passes a signal on to the group. TERM starts to stop it.
func (r *runner) forward(sig syscall.Signal) {
	r.told = r.told || sig == syscall.SIGTERM
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		r.asked = true
	}
	if sig == syscall.SIGTERM && r.phase < stopping {
		if c, is := r.role.(*call); is && r.phase == running && !r.ended() && c.hasCallees() {
			// Otherwise the first of them to end would seem to be the cause.
			r.fail(end{failure: "dpl-run got SIGTERM"})
			r.termAfter(r.failing)
			return
		}
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
