package status

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// whyEnded prints the events of a call that is no longer open. The operation keeps its last 64
// events (spec §3.6); if none is of the call, it returns the error of noCall.
func (s *reporter) whyEnded(op model.Operation, call string) error {
	var lines []string
	ended := ""
	events := []cli.Object{}
	for _, e := range op.Events {
		if e.CallID != call {
			continue
		}

		told := explain.Event(op, e)
		if e.Type == observe.CallEnded {
			ended = explain.CallEnd(e)
		}
		lines = append(lines, explain.At(e.At, op.Seen)+": "+told+".")
		events = append(events, cli.Object{{"at", wire.FormatTime(e.At)}, {"type", e.Type},
			{"from", cli.OrNull(e.From)}, {"to", cli.OrNull(e.To)}, {"by", e.By}, {"text", told},
			{"status", exitStatus(e.Exit)}, {"signal", cli.OrNull(e.Exit.Signal)},
			{"reason", cli.OrNull(e.Reason)}})
	}

	if len(lines) == 0 {
		return s.noCall(op, call)
	}

	if ended != "" {
		ended = ": " + ended
	}
	o := cli.Object{{"operationId", op.ID}, {"callId", call}, {"state", "ended"}, {"events", events}}
	return s.answer(o, fmt.Sprintf("%s: call %s has ended%s.", op.ID, call, ended), lines, nil)
}

// noCall returns an error for a call that op has not had: it names the newest run that had the call,
// or is protocol.ErrNoCall if none had.
func (s *reporter) noCall(op model.Operation, call string) error {
	runs, _ := s.runs(op.ID) // without them there is only less to say
	is := func(e observe.Event) bool { return e.CallID == call }
	for _, run := range runs {
		if run.RunID != "" && (run.Frame(call) != nil || slices.ContainsFunc(run.Events, is)) {
			return cli.Named("status", op.ID, call, cli.WithStatus(cli.StatusNotFound, fmt.Errorf(
				"this run has no such call, but another one had it: dpl-status --op %s --run %s --why %s",
				op.ID, run.RunID, call)))
		}
	}
	return cli.Named("status", op.ID, call, protocol.ErrNoCall)
}

// exitStatus returns the exit status of e, or nil if that is not known.
func exitStatus(e observe.Exit) any {
	if !e.Known || e.Signal != "" {
		return nil
	}
	return e.Status
}
