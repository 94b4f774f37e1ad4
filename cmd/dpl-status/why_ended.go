package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// whyEnded prints the events of a call that is no longer open. The operation keeps its last 64
// events (spec §3.6); it returns protocol.ErrNoCall if none is of the call.
func (s *reporter) whyEnded(op view.Operation, call string) error {
	var lines []string
	events := []cli.Object{}
	for _, e := range op.Events {
		if e.CallID != call {
			continue
		}

		told := story(e, op.Transitions)
		lines = append(lines, view.Stamp(e.At)+"  "+told)
		events = append(events, cli.Object{{"at", view.Stamp(e.At)}, {"type", e.Type},
			{"from", cli.OrNull(e.From)}, {"to", cli.OrNull(e.To)}, {"by", e.By}, {"text", told}})
	}

	if len(lines) == 0 {
		return cli.Named("status", op.ID, call, protocol.ErrNoCall)
	}

	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{"operationId", op.ID}, {"callId", call}, {"state", "ended"},
			{"events", events}})
		return nil
	}

	fmt.Fprintf(s.env.Stdout, "%s: call %s is over.\n", op.ID, call)
	for _, line := range lines {
		fmt.Fprintln(s.env.Stdout, harmless.Text(line))
	}

	return nil
}

// story says in words what has happened to a call.
func story(e observe.Event, transitions []protocol.Transition) string {
	switch e.Type {
	case observe.CallStarted:
		if e.CallerID != "" {
			return fmt.Sprintf("started by %s, called by %s", e.By, e.CallerID)
		}
		return "started by " + e.By
	case observe.CallReadiness:
		return cmp.Or(e.From, "-") + " -> " + e.To
	case observe.CallEnded:
		if e.From == string(protocol.FrameActive) {
			return "popped by " + e.By
		}
		return fmt.Sprintf("removed by %s: it was %s", e.By, e.From)
	}

	told := fmt.Sprintf("%s -> %s, found by %s", e.From, e.To, e.By)
	if e.To != string(protocol.FrameCrashed) {
		told = fmt.Sprintf("%s -> %s by %s", e.From, e.To, e.By)
	}
	if why := cmp.Or(e.Reason, evidence(e, transitions)); why != "" {
		told += ": " + why
	}
	return told
}

// evidence returns on what evidence a call was judged dead, if this has changed the state of the
// operation.
func evidence(e observe.Event, transitions []protocol.Transition) string {
	for _, t := range transitions {
		why, is := strings.CutPrefix(t.Reason, "call "+e.CallID+" crashed: ")
		if is && t.Revision == e.Revision {
			return why
		}
	}
	return ""
}
