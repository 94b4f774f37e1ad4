package push

import (
	"fmt"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// arguments returns the push for the flags, and its operation.
func (c *push) arguments(env *cli.Env) (p protocol.Push, op string, err error) {
	if p, op, err = c.Arguments(env, c.Participant); err != nil {
		return p, op, err
	}
	p.Tmp, p.Readiness = c.Tmp, c.Readiness

	// Without --pid only the pid of the parent is known: a shell may run each line in a new
	// process, so the end of the parent is no crash.
	if p.PID = int(c.PID); c.PID == 0 {
		p.PID = os.Getppid()
	}
	p.Process, err = cli.Identify(c.PID)
	return p, op, err
}

func (c *push) print(env *cli.Env, l *fileops.Ledger, edit session.Edit, p protocol.Push) {
	op, tmp := edit.After.ID, ""
	if c.Tmp && !l.Absent() {
		tmp = l.TmpDir(op, edit.After.RunID, p.Call)
	}

	switch {
	case env.JSON():
		env.PrintJSON(append(cli.Result(edit), cli.Object{
			{"runId", cli.OrNull(edit.After.RunID)},
			{"callId", p.Call}, {"participantId", p.Participant},
			{"tmp", cli.OrNull(tmp)}, {"traceparent", cli.OrNull(edit.After.PassesOn(p.Call))},
		}...))
	case c.Sh:
		set := []string{"DPL_LEDGER=" + l.Dir(), "DPL_OP=" + op, "DPL_RUN=" + edit.After.RunID,
			"DPL_CALL=" + p.Call, "DPL_PARTICIPANT=" + p.Participant}
		if traceparent := edit.After.PassesOn(p.Call); traceparent != "" {
			set = append(set, "TRACEPARENT="+traceparent)
		}
		if tmp != "" {
			set = append(set, "DPL_TMP="+tmp)
		}
		fmt.Fprintln(env.Stdout, cli.Exports(set...))
	default:
		fmt.Fprintln(env.Stdout, op, p.Call)
	}
}
