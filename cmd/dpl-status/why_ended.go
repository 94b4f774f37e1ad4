package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
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

		told := story(op, e)
		if e.Type == observe.CallEnded {
			ended = how(e)
		}
		lines = append(lines, wire.FormatTime(e.At)+"  "+told)
		events = append(events, cli.Object{{"at", wire.FormatTime(e.At)}, {"type", e.Type},
			{"from", cli.OrNull(e.From)}, {"to", cli.OrNull(e.To)}, {"by", e.By}, {"text", told},
			{"status", exitStatus(e.Exit)}, {"signal", cli.OrNull(e.Exit.Signal)},
			{"reason", cli.OrNull(e.Reason)}})
	}

	if len(lines) == 0 {
		return s.noCall(op, call)
	}

	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{"operationId", op.ID}, {"callId", call}, {"state", "ended"},
			{"events", events}})
		return nil
	}

	if ended != "" {
		ended = ": " + ended
	}
	fmt.Fprintf(s.env.Stdout, "%s: call %s has ended%s\n", op.ID, call, harmless.Text(ended))
	for _, line := range lines {
		fmt.Fprintln(s.env.Stdout, harmless.Text(line))
	}

	return nil
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

// how returns how the command of a call that has ended did, and why it was stopped, as far as e
// tells.
func how(e observe.Event) string {
	end, why := e.Exit.String(), e.Reason
	if end == "" || why == "" || end == why {
		return cmp.Or(end, why)
	}
	return end + ", " + why
}

// story says in words what has happened to a call of op.
func story(op model.Operation, e observe.Event) string {
	by := op.Editor(e.By)
	switch e.Type {
	case observe.CallStarted:
		if e.CallerID != "" {
			return fmt.Sprintf("started by %s, called by %s", by, e.CallerID)
		}
		return "started by " + by
	case observe.CallReadiness:
		return cmp.Or(e.From, "-") + " -> " + e.To
	case observe.CallEnded:
		told := "popped by " + by
		if e.From != string(protocol.FrameActive) {
			told = fmt.Sprintf("removed by %s: it was %s", by, e.From)
		}
		if how := how(e); how != "" {
			told += ": " + how
		}
		return told
	}

	told := fmt.Sprintf("%s -> %s, found by %s", e.From, e.To, by)
	if e.To != string(protocol.FrameCrashed) {
		told = fmt.Sprintf("%s -> %s by %s", e.From, e.To, by)
	}
	why := e.Reason
	if cause := op.CauseOf(e); why == "" && cause != nil {
		why = explain.Evidence(cause.Evidence)
	}
	if why != "" {
		told += ": " + why
	}
	return told
}
