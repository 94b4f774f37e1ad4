package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
)

// never reports whether a command says by status that it need not be run again: EX_USAGE, EX_NOPERM
// or EX_CONFIG. See also tempFail.
func never(status int) bool {
	return status == cli.StatusUsage || status == cli.StatusPermission || status == cli.StatusConfig
}

const (
	mostLater  = 5           // attempts for each one that --retry allows, because of tempFail
	leastLater = time.Second // the pause after tempFail
)

// defaultBackoff returns the pauses between attempts without --backoff, as for tasks.
func defaultBackoff() []time.Duration {
	return []time.Duration{0, 30 * time.Second, 5 * time.Minute}
}

// retries run the command of a call again after a failure (spec §15.11). Nil ones do not.
type retries struct {
	flags   *run
	call    *call
	made    int // attempts
	charged int // of those, the ones that have failed and count
	begun   time.Time
	rewinds bool // stdin is a file, of which each attempt reads the part from offset
	offset  int64
	stdout  *os.File // what is passed on after success; nil: the command writes to its destination
}

// checkRetries refuses flags that do not go with --retry.
func (c *run) checkRetries() error {
	switch {
	case c.Backoff != nil && c.Retry == 0:
		return cli.Usagef("--backoff goes with --retry")
	case c.Retry != 0 && c.Notify:
		return cli.Usagef("--retry does not go with --notify: register a service")
	case c.Retry == 0:
		return nil
	}
	if err := readAgain(os.Stdin); err != nil {
		return cli.Usagef("--retry: %v: let COMMAND read a file or </dev/null", err)
	}
	return nil
}

// newRetries returns the retries of p, which has begun, or nil if there are none.
func (c *run) newRetries(p role) (r *retries, err error) {
	call, is := p.(*call)
	if !is || c.Retry == 0 {
		return nil, nil
	}

	r = &retries{flags: c, call: call, made: 1, begun: time.Now()}
	info, err := os.Stdin.Stat()
	if err == nil && info.Mode().IsRegular() {
		r.rewinds = true
		r.offset, err = os.Stdin.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
	}
	return r, r.openStdout()
}

// openStdout opens a file for the output of an attempt, if nobody could take back what it writes to
// the pipe of another call.
func (r *retries) openStdout() (err error) {
	c := r.call
	if r.flags.To != "" || r.stdout == nil && !c.passesOn() {
		return nil
	}
	r.close()
	r.stdout, err = unnamed(c.tmp(), "")
	return err
}

func (r *retries) close() {
	if r.stdout != nil {
		r.stdout.Close()
	}
}

// files returns files, those of the role, as the attempt gets them.
func (r *retries) files(files []uintptr) []uintptr {
	if r == nil {
		return files
	}
	if files == nil {
		files = []uintptr{0, 1, 2}
	}
	if r.stdout != nil {
		files[1] = r.stdout.Fd()
	}
	return files
}

// variables returns env with the number of the attempt.
func (r *retries) variables(env []string) []string {
	if r == nil {
		return env
	}
	return append(without(env, "DPL_ATTEMPT"), "DPL_ATTEMPT="+strconv.Itoa(r.made))
}

// follows reports whether there is another attempt after one that has ended with e.
func (r *retries) follows(e end) bool {
	if r == nil || e.failure == "" || !e.ran || e.Interrupted || never(e.exit()) || !r.call.goesOn() {
		return false
	}
	most := int(r.flags.Retry)
	if e.exit() == tempFail {
		return r.made < mostLater*(most+1)
	}
	return r.charged < most
}

// next counts the end of an attempt, and returns how long to wait before the next one.
func (r *retries) next(e end) time.Duration {
	backoff := defaultBackoff()
	if r.flags.Backoff != nil {
		backoff = *r.flags.Backoff
	}
	pause := backoff[min(r.made, len(backoff))-1]
	if e.exit() == tempFail {
		pause = max(pause, leastLater)
	} else {
		r.charged++
	}
	r.made++
	return pause
}

// again prepares another attempt: the temporary directory is empty, and so are the files that the
// command writes to.
func (r *retries) again(env *cli.Env) error {
	c := r.call
	err := c.ledger.EmptyTmp(c.op, c.run, c.push.Call)
	if err == nil && r.rewinds {
		_, err = os.Stdin.Seek(r.offset, io.SeekStart)
	}
	if err == nil {
		err = r.openStdout()
	}
	if err == nil {
		err = r.flags.results.again(c.ledger)
	}
	return err
}

// again runs the command again if its attempt has failed, and returns false if that was the last.
func (r *runner) again(path string, argv, env []string, interval time.Duration) bool {
	e := r.endOfCommand()
	if r.why.status != 0 || r.asked || !r.retries.follows(e) {
		return false
	}

	pause := r.retries.next(e)
	r.env.Warnf("%s: %s: attempt %d in %v", r.role.name(), e.failure, r.retries.made, pause)
	if err := r.close(); err != nil {
		r.env.Warnf("%v", err)
	}
	if !r.await(after(time.Now(), max(pause, time.Nanosecond)), nil, interval) {
		return false
	}

	r.env.Settle()
	if err := r.restart(path, argv, env); err != nil {
		r.env.Warnf("%s: attempt %d: %v", r.role.name(), r.retries.made, err)
		return false
	}
	return true
}

// restart starts the next attempt. The keeper of the last one stays until there is another one.
func (r *runner) restart(path string, argv, env []string) (err error) {
	if err := r.retries.again(r.env); err != nil {
		return err
	}
	flags := r.retries.flags
	if r.listener, err = flags.listener(r.env, r.role); err != nil {
		return err
	}
	env = r.retries.variables(env)
	r.listener.redirect(env)

	keeper := job.NewKeeper(r.retries.call.push.StartID, r.killAfter, flags.held...)
	keeper.Tell(r.retries.call.note())
	next, err := r.start(path, argv, env, r.retries.files(r.role.files()), keeper)
	if err != nil {
		return err
	}
	r.keeper.Dismiss()
	r.keeper, r.account.keeper = keeper, keeper
	r.job, r.phase, r.ready, r.next = next, running, nil, time.Time{}
	r.spent = time.Since(r.retries.begun)
	return nil
}

// await sends heartbeats until the time at, or until done. It returns false if the call must end
// before that: because of a signal, --timeout, or what a heartbeat has found.
func (r *runner) await(at time.Time, done <-chan struct{}, interval time.Duration) bool {
	r.beats.start(r.role, interval)
	defer r.beats.finish()
	hard := after(r.retries.begun, r.timeout)

	for {
		now := time.Now()
		switch {
		case !hard.IsZero() && !now.Before(hard):
			r.why = ending{status: cli.StatusTimeout, reason: "timed out after " + r.timeout.String()}
			return false
		case !at.IsZero() && !now.Before(at):
			return true
		}

		select {
		case <-done:
			return true
		case sig := <-r.signals:
			switch sig {
			case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
				r.told = r.told || sig == syscall.SIGTERM
				return false
			}
		case b := <-r.beats.made:
			r.beats.learn(b)
			if b.status != cli.StatusOK {
				r.why = ending{status: b.status, reason: r.role.explain(b.status)}
				r.env.Warnf("%s", r.why.reason)
				return false
			}
		case <-time.After(time.Until(earliest(at, hard, r.beats.due()))):
		}
		r.beats.next(time.Now(), false)
	}
}

// passOn writes what the successful attempt has written to stdout. If that fails, so does the call.
func (r *runner) passOn(interval time.Duration) {
	if r.retries == nil || r.retries.stdout == nil {
		return
	}

	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		out := r.retries.stdout
		if _, err = out.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(os.Stdout, out)
		}
	}()
	if !r.await(time.Time{}, done, interval) {
		err = errors.New("stopped")
	}
	if errors.Is(err, syscall.EPIPE) && r.ok[128+int(syscall.SIGPIPE)] {
		return // the command itself would have been killed by SIGPIPE
	}
	if err != nil {
		r.retries.flags.results.fail(fmt.Errorf("pass on the output: %w", err))
	}
}
