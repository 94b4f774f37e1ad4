// Package failures prints failures of operations, and gives them to the command of --on-failure
// (spec §61).
package failures

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Teller gives failures of operations to a command.
type Teller struct {
	Env     *cli.Env
	Ledger  *fileops.Ledger
	Command string // a command line for sh
}

// Tell runs the command for the failure of op, whose file is at path, unless it has none or that
// was told before. A failure counts as told even if the command fails. Then it is not told again,
// unless this process is killed before it can record that. If another process is telling it, Tell
// does nothing.
//
// timedOut reports that the command was killed because it hung.
func (t Teller) Tell(op protocol.Operation, path string) (told, timedOut bool, err error) {
	f, failed := op.Failure()
	if !failed {
		return false, false, nil
	}

	telling, err := t.Ledger.Tell(op.ID, op.RunID, f.Revision)
	if errors.Is(err, fileops.ErrBusy) || err == nil && telling == nil {
		return false, false, nil
	}
	if err != nil {
		return false, false, cli.Named("--on-failure", op.ID, "", err)
	}

	timedOut, err = hook.Run(t.Command, t.line(op, f, path),
		[]string{"DPL_LEDGER=" + t.Ledger.Dir(), "DPL_OP=" + op.ID}, t.Env.Stderr)
	if err != nil {
		t.Env.Warnf("%s: --on-failure: %v", op.ID, err)
	}
	if err := errors.Join(telling.Told(), telling.Release()); err != nil {
		return true, timedOut, fmt.Errorf("%s: --on-failure: the failure was told, but this could "+
			"not be recorded: %w", op.ID, err)
	}
	return true, timedOut, nil
}

// line returns what the command gets.
func (t Teller) line(op protocol.Operation, f protocol.Failure, path string) string {
	o := cli.Object{
		{"type", "operationFailed"}, {"operationId", op.ID}, {"runId", cli.OrNull(op.RunID)},
		{"revision", f.Revision}, {"state", op.State}, {"aborted", f.To == protocol.Aborted},
		{"reason", f.Reason}, {"cause", cli.Cause(f.Cause)},
		{"by", f.By}, {"at", wire.FormatTime(f.At)}, {"call", call(f)}, {"path", path},
	}
	line := t.Env.JSONLine(o)
	return string(line[:len(line)-1]) // the hook gets a newline anyway
}

// call returns the call that crashed or failed, or nil.
func call(f protocol.Failure) any {
	if f.Call == "" {
		return nil
	}
	var staleFor any
	if f.Crash != nil {
		staleFor = f.Crash.StaleFor.Milliseconds()
	}
	return cli.Object{{"callId", f.Call}, {"participantId", cli.OrNull(f.Participant)},
		{"crashed", f.Crashed}, {"evidence", cli.OrNull(f.Evidence)}, {"staleForMs", staleFor}}
}
