package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/checking"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A judged role has a command that another one may judge.
type judged interface {
	// judging returns the command that judges an attempt which has ended with e, or "" if none
	// does. Its descriptors 0 and 1 are then those of this process.
	judging(e end) (path string, argv []string, err error)

	// judged records the end of that command, or why there is none.
	judged(e end, err error)
}

// judge runs the command that judges the attempt, if its own command has ended well. It is a job
// like that: heartbeats are sent, time limits go on, and TERM stops it. began is when the attempt
// began.
func (r *runner) judge(env []string, interval time.Duration, began time.Time) {
	role, ok := r.role.(judged)
	if !ok || !r.ended() || r.why.status != 0 {
		return
	}

	e := endOf(r.job, r.ok)
	path, argv, err := role.judging(e)
	if path == "" && err == nil {
		return
	}
	r.command = &e
	if err == nil {
		err = r.startJudge(path, argv, env)
	}
	if err != nil {
		role.judged(end{}, err)
		return
	}

	r.softTimeout, r.watchdog, r.listener = 0, 0, nil
	if r.timeout != 0 {
		r.timeout = max(r.timeout-time.Since(began), time.Millisecond)
	}
	r.follow(interval)
	if !r.ended() {
		role.judged(end{}, errors.New("it cannot be killed"))
		return
	}
	role.judged(endOf(r.job, success{}), nil)
}

// startJudge starts the second job.
func (r *runner) startJudge(path string, argv, env []string) error {
	if err := r.close(); err != nil {
		r.env.Warnf("%v", err)
	}
	second, err := job.Start(path, argv, env, nil, job.NewKeeper(process.NewStartID(), r.killAfter))
	if err == nil {
		r.job, r.socket = second, nil
		r.phase, r.ready, r.next = running, nil, time.Time{}
	}
	return err
}

// close closes the job, once.
func (r *runner) close() error {
	if r.closed == r.job {
		return nil
	}
	r.closed = r.job
	return r.job.Close()
}

// An attemptCheck is what judges an attempt (spec §45).
type attemptCheck struct {
	rules   string // "": none
	dir     string
	start   string         // a snapshot of the start, or ""
	report  *os.File       // what dpl-check prints; it has no name, so nobody else writes to it
	text    string         // that text
	outcome *queue.Outcome // what it makes of an attempt that has ended well
}

// begin remembers how the files are that must change. Without that, the check is uncertain later.
func (c *attemptCheck) begin() (err error) {
	if c.rules == "" {
		return nil
	}
	if c.dir, err = os.Getwd(); err == nil {
		c.start, err = checking.Start(c.rules, c.dir)
	}
	return err
}

func (a *attempt) judging(e end) (path string, argv []string, err error) {
	c := &a.check
	if c.rules == "" || e.failure != "" || a.saidOtherwise() {
		return "", nil, nil
	}
	if path, err = checking.Program(); err != nil {
		return "", nil, err
	}

	rules, err := unnamed("", c.rules)
	if err != nil {
		return "", nil, err
	}
	defer rules.Close()
	if c.report, err = unnamed("", ""); err != nil {
		return "", nil, err
	}
	since := ""
	if c.start != "" {
		since = filepath.Join(a.tmp(), "start.json")
		if err := os.WriteFile(since, []byte(c.start), 0o600); err != nil {
			return "", nil, err
		}
	}
	if err := redirect(rules, c.report); err != nil {
		return "", nil, err
	}
	return path, append([]string{"dpl-check"}, checking.Judge(c.dir, e.exit(), since)...), nil
}

// saidOtherwise reports whether the worker has said by dpl-settle that the task is not done. That
// counts whatever the check would find.
func (a *attempt) saidOtherwise() bool {
	q, err := a.ledger.ReadQueue(string(a.flags.Queue))
	if err != nil {
		return false // the settling says why
	}
	t := q.Task(a.task.ID)
	return t != nil && t.Claim != nil && t.Claim.Epoch == a.task.Claim.Epoch &&
		t.Claim.Intent != nil && t.Claim.Intent.End != queue.Done
}

func (a *attempt) judged(e end, err error) {
	c := &a.check
	o := queue.Outcome{}
	if err == nil && c.report != nil {
		var text []byte
		text, err = io.ReadAll(io.NewSectionReader(c.report, 0, mostReport))
		c.text = string(text)
	}

	switch {
	case err != nil:
		o = checking.Broken(err.Error())
	case e.Signal != 0 || e.unknown:
		o = checking.Broken("dpl-check was " + e.failure)
	default:
		o = checking.Outcome(e.Code, c.text)
	}
	c.outcome = &o
}

// mostReport is how much of a report is kept.
const mostReport = 1 << 20

// unnamed returns a file with text that has no name, in dir; "" is the usual one.
func unnamed(dir, text string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "dpl-run")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
	}
	return f, err
}
