package runner

import (
	"fmt"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/sdnotify"
	"github.com/dpl-project/dpl/protocol/observe"
)

// settled is how long a command runs before the less common signals are caught as well. See
// catchAll.
const settled = 10 * time.Millisecond

// Follow handles events until the command and its group have ended.
func (r *Runner) Follow() {
	start := time.Now()
	r.soft, r.hard = after(start, r.SoftTimeout), after(r.begun, r.Timeout)
	r.silent = after(start, r.Watchdog)
	r.late = start.Add(settled)
	r.beats.start(r.Heart, r.interval)
	ended := r.job.Ended()
	var messages <-chan sdnotify.Message
	if r.socket != nil {
		messages = r.socket.Messages()
	}
	news := r.Listener.start(r.job.PID())
	defer r.Listener.stop()

	for {
		wake := earliest(r.next, r.soft, r.hard, r.silent, r.late, r.beats.due())
		select {
		case <-r.job.Empty():
			r.finishBeats()
			return
		case <-ended:
			ended = nil
			if e := EndOf(r.job, r.OK); r.why.status == 0 && e.Failure != "" &&
				(r.asked || r.Follows == nil || !r.Follows(e)) {
				e.Told = r.told
				r.fail(e)
			}
			r.stopRest()
		case sig := <-r.Signals:
			r.forward(sig.(syscall.Signal))
		case m, ok := <-messages:
			if r.hear(m); !ok { // the socket has failed
				messages = nil
			}
		case b := <-r.beats.made:
			r.learn(b)
		case n := <-news:
			r.learnOf(n)
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

// onTime does everything due now. It returns false if the rest of the group must be left alone.
func (r *Runner) onTime(now time.Time) bool {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if due(r.late) {
		r.late = time.Time{}
		catchAll(r.Signals)
	}

	if due(r.soft) {
		r.soft = time.Time{}
		r.ask()
	}

	if due(r.hard) {
		r.hard = time.Time{}
		r.stop(ending{status: cli.StatusTimeout, reason: "timed out after " + r.Timeout.String()})
	}

	if due(r.silent) {
		r.silent = time.Time{}
		r.stop(ending{status: cli.StatusTimeout, reason: "silent for " + r.Watchdog.String()})
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
		r.phase, r.next = killed, now.Add(max(r.KillAfter, LastWords))
		r.signal(syscall.SIGKILL)
	case killed:
		r.Env.Warnf("%s: killed, but still there: processes %v", r.Name,
			append(r.job.Left(), r.job.Strays()...))
		return false
	}

	return true
}

// hear handles a message that the command sent by sd_notify.
func (r *Runner) hear(m sdnotify.Message) {
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
		r.silent = time.Now().Add(r.Watchdog)
	}
	if m.Trigger && !r.silent.IsZero() {
		r.stop(ending{status: cli.StatusTimeout, reason: "watchdog triggered"})
	}

	r.beats.say(say)
}

// learn handles the result of a look or heartbeat.
func (r *Runner) learn(b beat) {
	if b.err != nil && !r.beats.failing {
		r.Env.Warnf("%v", b.err)
	}
	r.beats.learn(b)
	if b.status == cli.StatusCleanUp && r.failing != nil {
		return // because of this command
	}
	if b.status != cli.StatusOK {
		r.stop(ending{status: b.status, reason: r.Explain(b.status)})
	}
}

// finishBeats makes sure that every report of the command is in the ledger.
func (r *Runner) finishBeats() {
	if r.socket != nil {
		r.socket.Finish()
		for m := range r.socket.Messages() {
			r.hear(m)
		}
	}
	r.beats.finish()
}

// learnOf does what news of output, or of none, ask for.
func (r *Runner) learnOf(n news) {
	if n.spoke {
		r.beats.say(observe.Report{})
	}
	if n.silent != 0 {
		r.stop(ending{status: cli.StatusTimeout, silent: true,
			reason: fmt.Sprintf("no output for %v", n.silent)})
	}
}
