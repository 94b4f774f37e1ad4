package run

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

// begin begins the role p. While another process holds the lock it waits, unless a signal ends it.
func begin(env *cli.Env, p role,
	signals <-chan os.Signal) (variables []string, interval time.Duration, err error) {
	for warned := false; ; {
		variables, interval, err = p.begin(signals)
		if !errors.Is(err, fileops.ErrBusy) {
			return variables, interval, err
		}

		if !warned {
			env.Warnf("%v: waiting for it", err)
			warned = true
		}

		if !mayRetry(signals) {
			return nil, 0, err
		}
	}
}

// patience is how long to retry recording the end if something other than the lock fails.
const patience = 10 * time.Second

// patience returns how long to retry recording a failure. Until it is recorded, no other call knows of
// it, and this process keeps their pipes open by living.
func (c *run) patience() time.Duration {
	if len(c.held) > 0 {
		return longestHold
	}
	return patience
}

// patience returns how long to retry recording the end e.
func (r *runner) patience(e end) time.Duration {
	if c, is := r.role.(*call); is && e.failure != "" {
		return c.flags.patience()
	}
	return patience
}

// end ends the role. It retries temporary failures, and waits for a held lock without limit. A
// committed end is not retried: a second try would not find the call, as if another process had
// popped it.
func (r *runner) end(e end) (v verdict, err error) {
	for until, warned := time.Now().Add(r.patience(e)), false; ; {
		v, err = r.role.end(e)
		if err == nil || !cli.Transient(err) || errors.Is(err, fileops.ErrCommitted) {
			return v, err
		}

		if time.Now().After(until) {
			if !errors.Is(err, fileops.ErrBusy) {
				return v, err
			}
			if !warned {
				r.env.Warnf("%v: waiting for it", err)
				warned = true
			}
		}

		if !mayRetry(r.signals) {
			return v, err
		}
	}
}

// retryAfter is the pause before trying again after a temporary failure.
const retryAfter = 100 * time.Millisecond

// mayRetry waits for retryAfter, or for a signal. It returns false if that asks this process itself
// to give up.
func mayRetry(signals <-chan os.Signal) bool {
	select {
	case sig := <-signals:
		return sig != syscall.SIGTERM && sig != syscall.SIGINT && sig != syscall.SIGHUP
	case <-time.After(cli.Jittered(retryAfter)):
		return true
	}
}
