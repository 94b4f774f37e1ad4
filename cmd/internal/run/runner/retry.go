package runner

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

// Begin calls begin, which records in the ledger that a command starts. While another process holds
// the lock it repeats that, unless a signal ends the wait.
func Begin(env *cli.Env, signals <-chan os.Signal, begin func() error) error {
	for warned := false; ; {
		err := begin()
		if !errors.Is(err, fileops.ErrBusy) {
			return err
		}

		if !warned {
			env.Warnf("%v: waiting for it", err)
			warned = true
		}

		if !MayRetry(signals) {
			return err
		}
	}
}

// Patience is how long to retry recording an end if something other than the lock fails.
const Patience = 10 * time.Second

// end records the end e. It retries temporary failures, and waits for a held lock without limit. A
// committed end is not retried: a second try would not find the call, as if another process had
// popped it.
func (r *Runner) end(e End) (v Verdict, err error) {
	patience := Patience
	if e.Failure != "" && r.Patience != 0 {
		patience = r.Patience
	}
	for until, warned := time.Now().Add(patience), false; ; {
		v, err = r.End(e)
		if err == nil || !cli.Transient(err) || errors.Is(err, fileops.ErrCommitted) {
			return v, err
		}

		if time.Now().After(until) {
			if !errors.Is(err, fileops.ErrBusy) {
				return v, err
			}
			if !warned {
				r.Env.Warnf("%v: waiting for it", err)
				warned = true
			}
		}

		if !MayRetry(r.Signals) {
			return v, err
		}
	}
}

// retryAfter is the pause before trying again after a temporary failure.
const retryAfter = 100 * time.Millisecond

// MayRetry waits for a moment, or for a signal. It returns false if that asks this process itself
// to give up.
func MayRetry(signals <-chan os.Signal) bool {
	select {
	case sig := <-signals:
		return sig != syscall.SIGTERM && sig != syscall.SIGINT && sig != syscall.SIGHUP
	case <-time.After(cli.Jittered(retryAfter)):
		return true
	}
}

// Asked waits for d, or until news come. It returns the signal that asks this process to end before
// that, or 0.
func Asked(signals <-chan os.Signal, news <-chan struct{}, d time.Duration) syscall.Signal {
	select {
	case sig := <-signals:
		if sig := sig.(syscall.Signal); sig == syscall.SIGTERM || sig == syscall.SIGINT ||
			sig == syscall.SIGHUP {
			return sig
		}
	case <-news:
	case <-time.After(d):
	}
	return 0
}
