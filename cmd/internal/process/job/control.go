//go:build unix

package job

import (
	"os/signal"
	"syscall"
	"time"

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
				j.resume()
			} else {
				j.send(syscall.SIGTSTP)
			}
		case <-j.closing:
			return
		}
	}
}

// takeStops takes the signals that stop a job, and make it go on.
func (j *Job) takeStops() {
	j.takes = true
	signal.Notify(j.signals, syscall.SIGTSTP, syscall.SIGCONT)
}

// stop answers that sig has stopped the leader.
func (j *Job) stop(sig syscall.Signal) {
	if j.tty == nil {
		return
	}
	foreground := j.tty.foreground()
	switch {
	case sig == syscall.SIGSTOP && foreground != j.pid: // nobody waits for it at the terminal
	case sig == syscall.SIGSTOP, sig == syscall.SIGTSTP: // some editors use SIGSTOP on themselves
		j.suspend()
	case foreground == j.tty.own:
		j.tty.lend()
		j.resume()
	case foreground == j.pid: // by now it is the foreground
		j.send(syscall.SIGCONT)
	default:
		j.suspend()
	}
}

// suspend stops our own process group, and lets the job go on when we do. An orphaned group, which
// nobody could make go on, is not stopped by the kernel. Then the job goes on if it had the
// foreground; else it stays as it is, or it would only stop again.
func (j *Job) suspend() {
	if j.tty.foreground() == j.pid {
		j.tty.modes, _ = term.GetState(j.tty.fd)
		j.tty.takeBack(j.pid)
	}
	stopOwnGroup()
	signal.Notify(j.signals, syscall.SIGTSTP)
	if j.continued() || j.tty.foreground() == j.tty.own {
		j.resume()
	}
}

// continued reports whether a SIGCONT arrives, which is on its way if there is one.
func (j *Job) continued() bool {
	for late := time.After(100 * time.Millisecond); ; {
		select {
		case sig := <-j.signals:
			if sig == syscall.SIGCONT {
				return true
			}
		case <-late:
			return false
		}
	}
}

// resume makes the job go on, in the foreground if it was there before and we are now.
func (j *Job) resume() {
	if j.tty != nil && j.tty.lent && j.tty.foreground() == j.tty.own {
		j.tty.give(j.pid)
		j.tty.setModes(j.tty.modes)
	}
	j.send(syscall.SIGCONT)
}
