package attempt

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/checking"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A check is what judges an attempt (spec §45).
type check struct {
	rules   string // "": none
	dir     string
	start   string         // a snapshot of the start, or ""
	report  *os.File       // what dpl-check prints; it has no name, so nobody else writes to it
	text    string         // that text
	outcome *queue.Outcome // what it makes of an attempt that has ended well
}

// begin remembers how the files are that must change. Without that, the check is uncertain later.
func (c *check) begin() (err error) {
	if c.rules == "" {
		return nil
	}
	if c.dir, err = os.Getwd(); err == nil {
		c.start, err = checking.Start(c.rules, c.dir)
	}
	return err
}

// judge has rules judge the attempt, if its command has ended well.
func (a *attempt) judge(r *runner.Runner, env []string) {
	if !r.EndsWell() {
		return
	}

	path, argv, err := a.judging(r.EndOfCommand())
	if path == "" && err == nil {
		return
	}
	r.Judge()
	if err == nil {
		err = r.StartJudge(runner.Command{Path: path, Argv: argv, Env: env},
			job.NewKeeper(process.NewStartID(), time.Duration(a.flags.KillAfter)))
	}
	if err != nil {
		a.judged(runner.End{}, err)
		return
	}

	r.Follow()
	e, ended := r.EndOfJudge()
	if !ended {
		err = errors.New("it cannot be killed")
	}
	a.judged(e, err)
}

// judging returns the command that judges an attempt which has ended with e, or "" if none does.
// Its descriptors 0 and 1 are then those of this process.
func (a *attempt) judging(e runner.End) (path string, argv []string, err error) {
	c := &a.check
	if c.rules == "" || e.Failure != "" || a.saidOtherwise() {
		return "", nil, nil
	}
	if path, err = checking.Program(); err != nil {
		return "", nil, err
	}

	rules, err := runner.Unnamed("", c.rules)
	if err != nil {
		return "", nil, err
	}
	defer rules.Close()
	if c.report, err = runner.Unnamed("", ""); err != nil {
		return "", nil, err
	}
	since := ""
	if c.start != "" {
		since = filepath.Join(a.Tmp(), "start.json")
		if err := os.WriteFile(since, []byte(c.start), 0o600); err != nil {
			return "", nil, err
		}
	}
	if err := redirect(rules, c.report); err != nil {
		return "", nil, err
	}
	return path, append([]string{"dpl-check"}, checking.Judge(c.dir, e.Exit(), since)...), nil
}

// saidOtherwise reports whether the worker has said by dpl-settle that the task is not done. That
// counts whatever the check would find.
func (a *attempt) saidOtherwise() bool {
	q, err := a.Ledger.ReadQueue(a.queue)
	if err != nil {
		return false // the settling says why
	}
	t := q.Task(a.task.ID)
	return t != nil && t.Claim != nil && t.Claim.Epoch == a.task.Claim.Epoch &&
		t.Claim.Intent != nil && t.Claim.Intent.End != queue.Done
}

// judged takes note of the end of that command, or of why there is none.
func (a *attempt) judged(e runner.End, err error) {
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
	case e.Signal != 0 || e.Unknown:
		o = checking.Broken("dpl-check was " + e.Failure)
	default:
		o = checking.Outcome(e.Code, c.text)
	}
	c.outcome = &o
}

// mostReport is how much of a report is kept.
const mostReport = 1 << 20
