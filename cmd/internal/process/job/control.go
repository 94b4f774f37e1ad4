//go:build unix

package job

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/term"
)

// control does what a shell does for its jobs, and what a job does for its shell.
func (j *Job) control() {
	defer close(j.idle)
	var late <-chan time.Time
	if !j.takes {
		late = time.After(10 * time.Millisecond)
	}

	orphans := time.NewTicker(5 * time.Second)
	defer orphans.Stop()

	for {
		select {
		case <-orphans.C:
			j.orphans() // those that have ended would stay zombies
		case <-late:
			j.takeStops()
		case sig := <-j.stops:
			j.stop(sig)
		case sig := <-j.signals:
			if sig == syscall.SIGCONT {
				j.overtaken() // stops from before the SIGCONT may be delivered only now
				j.resume()
			} else {
				j.send(syscall.SIGTSTP)
			}
		case <-j.closing:
			return
		}
	}
}

// takeStops starts to handle the signals that stop and continue a job.
func (j *Job) takeStops() {
	j.takes = true
	signal.Notify(j.signals, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGTSTP) { // as the caller was told to
		signal.Notify(j.signals, syscall.SIGTSTP)
	}
}

// stop responds to sig having stopped the leader.
func (j *Job) stop(sig syscall.Signal) {
	if j.tty == nil || j.runs() {
		return
	}

	foreground := j.tty.foreground()
	switch {
	case sig == syscall.SIGSTOP && foreground != j.pid: // no one waits for it at the terminal
	case sig == syscall.SIGSTOP, sig == syscall.SIGTSTP: // some editors use SIGSTOP on themselves
		j.suspend()
	case foreground == j.tty.own:
		j.tty.handOver()
		j.resume()
	case foreground == j.pid: // it has become the foreground since
		j.send(syscall.SIGCONT)
	default:
		j.suspend()
	}
}

// runs reports whether the leader is not stopped any more: it was continued since. It returns false if
// that cannot be told.
func (j *Job) runs() bool {
	p, err := process.Identify(j.pid)
	return err == nil && !process.Stopped(p)
}

// overtaken reports whether a SIGCONT has come since the leader was stopped: others of our group were
// faster, and it was continued already. To stop it now would stop the job again. It drops the stops
// that have arrived: package signal delivers what waits in the order of the numbers, so a SIGTSTP from
// before a SIGCONT comes after it.
func (j *Job) overtaken() (is bool) {
	forgetCaught()
	for {
		select {
		case sig := <-j.signals:
			is = is || sig == syscall.SIGCONT
		default:
			return is
		}
	}
}

// suspend stops our own process group, and continues the job when we are continued. The kernel does
// not stop an orphaned group, which no one could continue. Then the job is continued if it had the
// foreground; otherwise it stays stopped, because it would only stop again.
func (j *Job) suspend() {
	if j.tty.foreground() == j.pid {
		j.tty.modes, _ = term.GetState(j.tty.fd)
		j.tty.takeBack(j.pid)
	}

	overtaken := false
	StopOwnGroup(func() bool {
		overtaken = j.overtaken()
		return overtaken
	})
	forgetCaught()
	signal.Notify(j.signals, syscall.SIGTSTP)
	if overtaken || j.continued() || j.tty.foreground() == j.tty.own {
		j.resume()
	}
}

// forgetCaught returns when all signals that were caught have been delivered, or dropped because no
// channel wants them. Other members of our group may have stopped it as well; a SIGTSTP of theirs
// that package signal delivers only now would stop the job again after the SIGCONT.
func forgetCaught() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGCONT)
	signal.Stop(c)
}

// continued reports whether a SIGCONT arrives. One that has been sent arrives within 100 ms. It
// drops stops that have arrived before.
func (j *Job) continued() (is bool) {
	for late := time.After(100 * time.Millisecond); ; {
		select {
		case sig := <-j.signals:
			is = is || sig == syscall.SIGCONT
			if is && len(j.signals) == 0 {
				return true
			}
		case <-late:
			return is
		}
	}
}

// resume continues the job, in the foreground if it was there before and we are there now.
func (j *Job) resume() {
	if j.tty != nil && j.tty.lent && j.tty.foreground() == j.tty.own {
		j.tty.give(j.pid)
		j.tty.setModes(j.tty.modes)
	}
	j.send(syscall.SIGCONT)
}
