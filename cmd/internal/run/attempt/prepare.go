package attempt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/trace"
)

// prepare gets ready to run the command of the task, in its directory and with its output in the
// log of the attempt. It returns the path of the program. Its error is unfit if the task is at
// fault.
func (a *attempt) prepare(log *fileops.AttemptLog) (path string, err error) {
	content, err := a.Ledger.ReadSpec(a.queue, a.task)
	if err != nil {
		return "", ofTask(err)
	}
	spec, err := queue.DecodeSpec(content)
	if err != nil {
		return "", ofTask(err)
	}

	if len(a.command) == 0 {
		a.command = spec.Argv
	}
	if len(a.command) == 0 {
		return "", unfit{errors.New("it has no command: give -- COMMAND")}
	}
	if spec.Timeout > 0 {
		a.flags.Timeout = cli.Span(spec.Timeout)
	}
	if spec.SoftTimeout > 0 {
		a.flags.SoftTimeout = cli.Span(spec.SoftTimeout)
	}
	if spec.KillAfter > 0 {
		a.flags.KillAfter = cli.Pause(spec.KillAfter)
	}

	a.spec, a.Push = content, a.pushed(spec)
	if spec.Dir != "" {
		if err := os.Chdir(spec.Dir); err != nil {
			return "", ofTask(err)
		}
	}
	if path, err = runner.LookUp(a.command[0]); err != nil {
		return "", ofTask(err)
	}

	a.check.rules = spec.Check
	if err := a.check.begin(); err != nil {
		a.Env.Warnf("%s: %v", a.name(), err)
	}

	claim := a.task.Claim
	a.output = log
	if a.log, err = log.Name(a.task.ID, claim.Epoch); errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already: the file of the queue was set back to an older "+
			"state: the task is tried again under the next number",
			a.Ledger.AttemptLog(a.queue, a.task.ID, claim.Epoch))
	} else if err != nil {
		return "", err
	}
	return path, a.redirect()
}

// limitLog cuts the log if it is too large (spec §35.5), and reports whether it has. It says once
// that it cannot, and that stops nothing.
func (a *attempt) limitLog() (bool, error) {
	cut, err := a.output.Limit(a.logMax)
	if err != nil && a.endless.CompareAndSwap(false, true) {
		why := err
		if failed := new(fs.PathError); errors.As(err, &failed) { // it has no name in there
			why = failed.Err
		}
		a.Env.Warnf("%s: %s grows beyond --log-max: punch a hole: %v", a.name(), a.log, why)
	}
	return cut, err
}

// pushed returns the call of the attempt.
func (a *attempt) pushed(spec queue.Spec) protocol.Push {
	p := runner.Self()
	description := spec.Text
	if description == "" {
		description = strings.Join(a.command, " ")
	}
	const most = 200
	return protocol.Push{
		Participant: a.task.Claim.Participant, Call: onlyCall, PID: p.PID, Process: p, Tmp: true,
		Description: strings.ToValidUTF8(description[:min(len(description), most)], ""),
		Traceparent: cmp.Or(trace.Normal(a.task.Traceparent), os.Getenv("TRACEPARENT")),
	}
}
