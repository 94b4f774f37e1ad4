package attempt

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/trace"
)

// begin pushes the call, and returns the variables that tell the command about the task.
func (a *attempt) begin() ([]string, time.Duration, error) {
	edit, err := a.Env.Edit(a.Ledger, a.Op, fileops.OrCreate|fileops.Own,
		session.Pushing{CallerMayGo: true}.Push(a.Op, a.Push))
	if err != nil {
		// If the lock is busy, it is tried again.
		return nil, 0, a.TooLate(cli.Named("push", a.Op, a.Push.Call, err), nil)
	}
	variables, interval := a.Begun(edit.After)
	spec := filepath.Join(a.Tmp(), "task.json")
	err = os.WriteFile(spec, []byte(a.spec+"\n"), 0o600)
	if err == nil {
		err = a.stillMine()
	}
	switch {
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrNoTask):
		a.begun = true
		_, endErr := a.end(runner.End{Failure: err.Error(), Stopped: cli.StatusCleanUp})
		return nil, 0, errors.Join(cli.WithStatus(cli.StatusCleanUp, err), endErr)
	case err != nil:
		_, endErr := a.end(runner.End{Failure: err.Error(), Lacking: err})
		return nil, 0, errors.Join(err, endErr)
	}
	a.begun = true

	t, q := a.task, a.queue
	previous := ""
	if t.Last.Epoch != 0 {
		previous = a.Ledger.AttemptReport(q, t.ID, t.Last.Epoch)
		if _, err := os.Stat(previous); err != nil {
			previous = ""
		}
	}

	if trace.Normal(t.Traceparent) != "" {
		// What else the environment says about a trace is about that of the worker.
		variables = append(variables, "TRACESTATE=", "BAGGAGE=")
	}
	return append(variables,
		"DPL_QUEUE="+q, "DPL_TASK="+t.ID, "DPL_EPOCH="+strconv.FormatInt(t.Claim.Epoch, 10),
		"DPL_ATTEMPT="+strconv.FormatInt(t.Attempts, 10),
		"DPL_SPEC="+spec, "DPL_LOG="+a.log,
		"DPL_REASON="+strings.ReplaceAll(reason(t.Last), "\x00", "\uFFFD"),
		"DPL_SAME_ERROR="+strconv.FormatInt(t.SameError, 10), "DPL_PREVIOUS="+previous,
	), interval, nil
}

// reason says how the last attempt ended: "" for the first one.
func reason(last queue.Attempt) string {
	switch {
	case last.Epoch == 0:
		return ""
	case last.Reason == "" || last.Reason == string(last.End):
		return string(last.End)
	}
	return string(last.End) + ": " + last.Reason
}

// stillMine returns an error if the task was cancelled, or its queue halted with --abort, between
// the claim and now: the operation was not there to be aborted.
func (a *attempt) stillMine() error {
	q, err := a.Ledger.ReadQueue(a.queue)
	if err != nil {
		return err
	}
	return q.Mine(a.task.ID, a.task.Claim.Epoch, queue.Seen{Observation: a.Env.Observer()()})
}
