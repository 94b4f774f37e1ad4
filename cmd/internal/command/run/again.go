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
	"github.com/dpl-project/dpl/cmd/internal/run/attempt"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// never reports whether a command says by status that it need not be run again: EX_USAGE, EX_NOPERM
// or EX_CONFIG. See also attempt.TempFail.
func never(status int) bool {
	return status == cli.StatusUsage || status == cli.StatusPermission || status == cli.StatusConfig
}

const (
	mostLater  = 5           // attempts for each one that --retry allows, because of attempt.TempFail
	leastLater = time.Second // the pause after attempt.TempFail
)

// defaultBackoff returns the pauses between attempts without --backoff, as for tasks.
func defaultBackoff() []time.Duration {
	return []time.Duration{0, 30 * time.Second, 5 * time.Minute}
}

// retries run the command of a call again after a failure (spec §15.11). Nil ones do not.
type retries struct {
	flags   *run
	call    *call
	made    int  // attempts
	charged int  // of those, the ones that have failed and count
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

// newRetries returns the retries of call, which has begun, or nil if there are none.
func (c *run) newRetries(call *call) (r *retries, err error) {
	if c.Retry == 0 {
		return nil, nil
	}

	r = &retries{flags: c, call: call, made: 1}
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
	r.stdout, err = runner.Unnamed(c.Tmp(), "")
	return err
}

func (r *retries) close() {
	if r.stdout != nil {
		r.stdout.Close()
	}
}

// files returns files, those of the call, as the attempt gets them.
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
	return append(runner.Without(env, "DPL_ATTEMPT"), "DPL_ATTEMPT="+strconv.Itoa(r.made))
}

// follows reports whether there is another attempt after one that has ended with e.
func (r *retries) follows(e runner.End) bool {
	if r == nil || e.Failure == "" || !e.Ran || e.Interrupted || never(e.Exit()) || !r.call.goesOn() {
		return false
	}
	most := int(r.flags.Retry)
	if e.Exit() == attempt.TempFail {
		return r.made < mostLater*(most+1)
	}
	return r.charged < most
}

// count counts the end of an attempt, and returns how long to wait before the next one.
func (r *retries) count(e runner.End) time.Duration {
	backoff := defaultBackoff()
	if r.flags.Backoff != nil {
		backoff = *r.flags.Backoff
	}
	pause := backoff[min(r.made, len(backoff))-1]
	if e.Exit() == attempt.TempFail {
		pause = max(pause, leastLater)
	} else {
		r.charged++
	}
	r.made++
	return pause
}

// again prepares another attempt: the temporary directory is empty, and so are the files that the
// command writes to.
func (r *retries) again() error {
	c := r.call
	err := c.Ledger.EmptyTmp(c.Op, c.Run, c.Push.Call)
	if err == nil && r.rewinds {
		_, err = os.Stdin.Seek(r.offset, io.SeekStart)
	}
	if err == nil {
		err = r.openStdout()
	}
	if err == nil {
		err = r.flags.results.again(c.Ledger)
	}
	return err
}

// run follows the attempts after the first one, while the last has failed. Then it passes on what a
// successful one has written to stdout.
func (r *retries) run(runs *runner.Runner, c runner.Command) {
	for r.next(runs, c) {
		runs.Follow()
	}
	if r.stdout != nil && runs.EndsWell() {
		r.passOn(runs)
	}
}

// next starts the next attempt if the last one has failed, and returns false if that was the last.
func (r *retries) next(runs *runner.Runner, c runner.Command) bool {
	e := runs.EndOfCommand()
	if runs.Stopped() || !r.follows(e) {
		return false
	}

	pause := r.count(e)
	runs.Env.Warnf("%s: %s: attempt %d in %v", runs.Name, e.Failure, r.made, pause)
	runs.CloseJob()
	if !runs.Await(time.Now().Add(max(pause, time.Nanosecond)), nil) {
		return false
	}

	runs.Env.Settle()
	if err := r.start(runs, c); err != nil {
		runs.Env.Warnf("%s: attempt %d: %v", runs.Name, r.made, err)
		return false
	}
	return true
}

// start starts the next attempt.
func (r *retries) start(runs *runner.Runner, c runner.Command) error {
	if err := r.again(); err != nil {
		return err
	}
	listener, err := r.flags.listener(r.call)
	if err != nil {
		return err
	}
	c.Env, c.Files = r.variables(c.Env), r.files(r.flags.results.files())

	keeper := job.NewKeeper(r.call.Push.StartID, runs.KillAfter, r.flags.held...)
	keeper.Tell(r.call.note())
	return runs.Restart(c, keeper, listener)
}

// passOn writes what the successful attempt has written to stdout. If that fails, so does the call.
func (r *retries) passOn(runs *runner.Runner) {
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		out := r.stdout
		if _, err = out.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(os.Stdout, out)
		}
	}()
	if !runs.Await(time.Time{}, done) {
		err = errors.New("stopped")
	}
	if errors.Is(err, syscall.EPIPE) && runs.OK[128+int(syscall.SIGPIPE)] {
		return // the command itself would have been killed by SIGPIPE
	}
	if err != nil {
		r.flags.results.fail(fmt.Errorf("pass on the output: %w", err))
	}
}
