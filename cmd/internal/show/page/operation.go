package page

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/protocol"
)

func operationSubject(op model.Operation) subject {
	s := subject{
		ID: op.ID, State: string(op.State), Mood: mood(op.State), Headline: headline(op),
		Facts:       operationFacts(op),
		Transitions: op.Transitions,
		Main:        callTree(op),
		More:        tree{Heading: "Supervisors", Lines: planted(supervisors(op), "supervisor")},
		Timeline:    operationLanes(op).timeline(),
		Entries:     operationEntries(op),
	}

	if op.Undiscovered() > 0 {
		s.Mood = "bad"
	}
	s.kind = kindOf(op.State.Terminal())

	return s
}

func headline(op model.Operation) string {
	text := explain.Plural(len(op.Stack), "call")
	if n := op.Crashed(); n > 0 {
		text += fmt.Sprintf(", %d crashed", n)
	}
	if n := op.Undiscovered(); n > 0 {
		text += fmt.Sprintf(", %d dead but not yet found", n)
	}
	return text + ", last heartbeat " + explain.Ago(op.Seen.Now.Sub(op.LastHeartbeat))
}

func operationFacts(op model.Operation) []fact {
	abort, archived := "", ""
	if op.Aborted {
		abort = "requested"
	}
	if op.Archived {
		archived = "archive"
	}

	return facts(
		string(op.State)+" for", explain.InStateFor(op),
		"revision", strconv.FormatInt(op.Revision, 10),
		"heartbeat every", explain.Span(op.HeartbeatInterval),
		"stale after", explain.Span(op.StalenessThreshold),
		"abort", abort,
		"in the", archived,
	)
}

// callTree returns the open calls of op, with a filter if they are many.
func callTree(op model.Operation) tree {
	lines := calls(op)
	t := tree{Heading: "Calls", Lines: planted(lines, "call"), Filter: filterLines(op.ID, lines)}
	switch {
	case op.State.Terminal():
		t.Empty = "It is over: no call is open."
	case op.State == protocol.Running:
		t.Empty = "No call is open. This makes one: " + explain.Command("dpl-run", "--op", op.ID, "--call",
			"NAME", "--", "COMMAND")
	}
	return t
}

// calls returns the calls of op in the order of their tree, each before the calls it made.
func calls(op model.Operation) (lines []line) {
	for _, c := range op.Tree() {
		lines = append(lines, line{
			ID: c.CallID, depth: c.Depth, Pills: pills(string(c.State), c.Verdict, "alive"),
			Details: explain.CallDetails(c),
			Facts: facts(
				"by", c.ParticipantID,
				"pid", table.Number(c.PID),
				"heartbeat", explain.Heard(c.Judgement),
				"supervisor", c.SupervisorID,
				"handle", c.SupervisorHandle,
			),
			kind: kindOf(c.State == protocol.FrameCleanedUp, string(c.State), c.Verdict),
		})
	}
	return lines
}

func supervisors(op model.Operation) (lines []line) {
	for _, v := range op.JudgedSupervisors() {
		status := string(v.Status)
		lines = append(lines, line{
			ID: v.ID, Pills: pills(status, v.Verdict, status), Details: explain.SupervisorDetails(v),
			Facts: facts("pid", table.Number(v.PID), "heartbeat", explain.Heard(v.Judgement)),
			kind:  kindOf(false, status, v.Verdict),
		})
	}
	return lines
}

// pills returns a state and, unless it is one of usual, a verdict.
func pills(state, verdict string, usual ...string) []string {
	if slices.Contains(usual, verdict) {
		return []string{state}
	}
	return []string{state, verdict}
}
