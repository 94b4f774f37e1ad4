package settle

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/checking"
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// errUnjudged says that a check must be made first.
var errUnjudged = errors.New("it is not checked yet")

// mayHaveCheck reports whether the task of s may have a check, without reading a file. If the claim
// is not that of s there is nothing to be checked: Settle says why.
func mayHaveCheck(q queue.Queue, s queue.Settlement) bool {
	t := q.Task(s.Task)
	if t == nil || t.Claim == nil || t.Claim.Epoch != s.Epoch {
		return false
	}
	content, _, inline := t.Content()
	return !inline || strings.Contains(string(content), `"check"`) || strings.Contains(string(content), `\u`)
}

// judge makes s what the check of the task finds, if it has one (spec §45). Inside an attempt of
// dpl-work, which makes the check itself, it takes back what was said before. If the claim is not
// that of s there is nothing to be checked: Settle says why.
func (c *settle) judge(env *cli.Env, l *fileops.Ledger, s *queue.Settlement) error {
	q, err := l.ReadQueue(string(c.Queue))
	if err != nil {
		return err
	}
	t := q.Task(s.Task)
	if t == nil || t.Claim == nil || t.Claim.Epoch != s.Epoch {
		return nil
	}

	content, err := l.ReadSpec(q.ID, t)
	if err != nil {
		return err
	}
	spec, err := queue.DecodeSpec(content)
	switch {
	case err != nil:
		return err
	case spec.Check == "":
	case q.Inside(s.Task, env.Variable("DPL_OP")) && s.Publish != nil:
		return cli.WithStatus(cli.StatusRefused, errUnchecked)
	case q.Inside(s.Task, env.Variable("DPL_OP")):
		s.Outcome = queue.Outcome{}
	default:
		if err := env.CheckGroupTrust(l); err != nil {
			return err // its rules may have a command
		}
		start := l.AttemptStart(q.ID, s.Task, s.Epoch)
		if _, err := os.Stat(start); err != nil {
			start = "" // dpl-claim has had no need of it
		}
		s.Outcome, s.Report = run(env, spec, start, s.Report)
		if s.End == queue.Uncertain {
			s.Question, err = checking.AskPerson(env, l, q.ID, t, s.Reason)
		}
	}
	return err
}

// run runs dpl-check, with the snapshot start, or "". It returns how the attempt ends, and the
// report to be kept: that of the check, unless it has passed and the worker gives one.
func run(env *cli.Env, spec queue.Spec, start, report string) (queue.Outcome, string) {
	path, err := checking.Program()
	if err != nil {
		return checking.Broken(err.Error()), report
	}

	dir := spec.Dir
	if dir == "" {
		dir = "."
	}
	args := checking.Judge(dir, -1, start)
	if env.DryRun() {
		args = append(args, "--dry-run")
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(spec.Check), messages.ForChild(env.Stderr)
	out, err := cmd.Output()

	exit, exited := errors.AsType[*exec.ExitError](err)
	status := 0
	switch {
	case exited && exit.ExitCode() >= 0:
		status = exit.ExitCode()
	case err != nil:
		return checking.Broken(err.Error()), report
	}
	o := checking.Outcome(status, string(out))
	if o.End == queue.Done && report != "" {
		return o, report
	}
	return o, string(out)
}

// notPassed returns the error for a task that is not done, because of o.
func notPassed(o queue.Outcome) error {
	return cli.WithStatus(cli.StatusFalse, fmt.Errorf("it is not done: %s: %s", o.End, o.Reason))
}
