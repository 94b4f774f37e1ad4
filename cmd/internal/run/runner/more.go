package runner

import (
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
)

// Restart starts another attempt of the command, with a keeper and a listener of its own. The
// keeper of the last one stays until there is another one. If it returns nil, call Follow.
func (r *Runner) Restart(c Command, keeper *job.Keeper, l *Listener) error {
	r.Listener = l
	l.redirect(c.Env)

	before := r.Keeper
	r.Keeper = keeper
	next, err := r.start(c)
	if err != nil {
		r.Keeper = before
		return err
	}
	before.Dismiss()
	r.Account.Keeper = keeper
	r.replace(next)
	return nil
}

// StartJudge starts a command that judges the one which has ended: the end of that is the end of
// the whole. The judge is a job like any other: heartbeats are sent, and the time limit of the
// whole applies. If it returns nil, call Follow, and then EndOfJudge.
func (r *Runner) StartJudge(c Command, keeper *job.Keeper) error {
	judged, err := job.Start(c.Path, c.Argv, c.Env, c.Files, keeper)
	if err != nil {
		return err
	}
	r.socket, r.SoftTimeout, r.Watchdog, r.Listener = nil, 0, 0, nil
	r.replace(judged)
	return nil
}

// Judge makes the end of the command the end of the whole, whatever is started after it.
func (r *Runner) Judge() {
	e := EndOf(r.job, r.OK)
	r.command = &e
	r.CloseJob()
}

// EndOfJudge returns how the judge ended, and whether it has.
func (r *Runner) EndOfJudge() (End, bool) {
	if !r.Ended() {
		return End{}, false
	}
	return EndOf(r.job, Success{}), true
}

// CloseJob closes the job of a command that has ended.
func (r *Runner) CloseJob() {
	if err := r.close(); err != nil {
		r.Env.Warnf("%v", err)
	}
}

// replace makes next the job.
func (r *Runner) replace(next *job.Job) {
	r.job, r.phase, r.ready, r.next = next, running, nil, time.Time{}
}

// Await sends heartbeats until the time at, or until done; zero and nil are never. It returns false
// if the command must end before that: because of a signal, a time limit, or what a heartbeat has
// found.
func (r *Runner) Await(at time.Time, done <-chan struct{}) bool {
	r.beats.start(r.Heart, r.interval)
	defer r.beats.finish()
	hard := after(r.begun, r.Timeout)

	for {
		now := time.Now()
		switch {
		case !hard.IsZero() && !now.Before(hard):
			r.why = ending{status: cli.StatusTimeout, reason: "timed out after " + r.Timeout.String()}
			return false
		case !at.IsZero() && !now.Before(at):
			return true
		}

		select {
		case <-done:
			return true
		case sig := <-r.Signals:
			switch sig {
			case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
				r.told = r.told || sig == syscall.SIGTERM
				return false
			}
		case b := <-r.beats.made:
			r.beats.learn(b)
			if b.status != cli.StatusOK {
				r.why = ending{status: b.status, reason: r.Explain(b.status)}
				r.Env.Warnf("%s", r.why.reason)
				return false
			}
		case <-time.After(time.Until(earliest(at, hard, r.beats.due()))):
		}
		r.beats.next(time.Now(), false)
	}
}
