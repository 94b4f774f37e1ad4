package page

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

func operationSubject(op view.Operation) subject {
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

func headline(op view.Operation) string {
	text := count(len(op.Stack), "call")
	if n := op.Crashed(); n > 0 {
		text += fmt.Sprintf(", %d crashed", n)
	}
	if n := op.Undiscovered(); n > 0 {
		text += fmt.Sprintf(", %d dead but not yet found", n)
	}
	return text + ", last heartbeat " + view.Ago(op.Seen.Now.Sub(op.LastHeartbeat))
}

func operationFacts(op view.Operation) []fact {
	abort, archived := "", ""
	if op.Aborted {
		abort = "requested"
	}
	if op.Archived {
		archived = "archive"
	}

	return facts(
		string(op.State)+" for", op.InStateFor(),
		"revision", strconv.FormatInt(op.Revision, 10),
		"heartbeat every", view.Span(op.HeartbeatInterval),
		"stale after", view.Span(op.StalenessThreshold),
		"abort", abort,
		"in the", archived,
	)
}

// callTree returns the open calls of op, with a filter if they are many.
func callTree(op view.Operation) tree {
	lines := calls(op)
	t := tree{Heading: "Calls", Lines: planted(lines, "call"), Filter: filterLines(op.ID, lines)}
	switch {
	case op.State.Terminal():
		t.Empty = "It is over: no call is open."
	case op.State == protocol.Running:
		t.Empty = "No call is open. This makes one: " + view.Command("dpl-run", "--op", op.ID, "--call",
			"NAME", "--", "COMMAND")
	}
	return t
}

// calls returns the calls of op in the order of their tree, each before the calls it made.
func calls(op view.Operation) (lines []line) {
	for _, c := range op.Tree() {
		lines = append(lines, line{
			ID: c.CallID, depth: c.Depth, Pills: pills(string(c.State), c.Verdict, "alive"),
			Details: c.Details(),
			Facts: facts(
				"by", c.ParticipantID,
				"pid", view.Number(c.PID),
				"heartbeat", c.Heard,
				"supervisor", c.SupervisorID,
				"handle", c.SupervisorHandle,
			),
			kind: kindOf(c.State == protocol.FrameCleanedUp, string(c.State), c.Verdict),
		})
	}
	return lines
}

func supervisors(op view.Operation) (lines []line) {
	for _, v := range op.JudgedSupervisors() {
		status := string(v.Status)
		lines = append(lines, line{
			ID: v.ID, Pills: pills(status, v.Verdict, status), Details: v.Details(),
			Facts: facts("pid", view.Number(v.PID), "heartbeat", v.Heard),
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
