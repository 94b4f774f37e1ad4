package page

import (
	"fmt"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

func operationSubject(op view.Operation) subject {
	s := subject{
		ID: op.ID, State: string(op.State), Mood: mood(op.State), Headline: headline(op),
		Facts:       operationFacts(op),
		Transitions: op.Transitions,
		Main:        tree{"Calls", calls(op)},
		Timeline:    operationLanes(op).timeline(),
		Entries:     operationEntries(op),
	}

	if op.Undiscovered() > 0 {
		s.Mood = "bad"
	}

	s.More.Heading = "Supervisors"
	for _, v := range op.Supervisors {
		s.More.Lines = append(s.More.Lines, supervisor(op, v))
	}

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
	age, abort, archived := "", "", ""
	if since := op.Since(); !since.IsZero() {
		age = view.Span(max(op.Seen.Now.Sub(since), 0))
	}
	if op.Aborted {
		abort = "requested"
	}
	if op.Archived {
		archived = "archive"
	}

	return facts(
		string(op.State)+" for", age,
		"revision", strconv.FormatInt(op.Revision, 10),
		"beats every", view.Span(op.HeartbeatInterval),
		"stale after", view.Span(op.StalenessThreshold),
		"abort", abort,
		"in the", archived,
	)
}

// calls returns the calls of op in the order of their tree, each before the calls it made.
func calls(op view.Operation) (lines []line) {
	const root = -1
	called := make(map[int][]int)
	for i, caller := range op.Callers() {
		called[caller] = append(called[caller], i)
	}

	var add func(caller, depth int)
	add = func(caller, depth int) {
		for _, i := range called[caller] {
			l := frame(op, op.Stack[i])
			l.depth = depth
			lines = append(lines, l)
			add(i, depth+1)
		}
	}

	add(root, 0)
	return nested(lines)
}

func frame(op view.Operation, f *protocol.Frame) line {
	evidence, age := op.Judge(f, op.Seen)
	l := line{ID: f.CallID, Pills: []string{string(f.State)}, Details: op.Details(f)}
	if verdict := view.Verdict(f.State.Live(), evidence, f.Crash,
		op.Seen.Stopped(f.PID, f.Process)); verdict != "alive" {
		l.Pills = append(l.Pills, verdict)
	}

	l.Facts = facts(
		"by", f.ParticipantID,
		"pid", number(f.PID),
		"heartbeat", view.Ago(age),
		"supervisor", f.SupervisorID,
		"handle", f.SupervisorHandle,
	)

	return l
}

func supervisor(op view.Operation, v protocol.Supervisor) line {
	evidence, age := op.JudgeSupervisor(v, op.Seen)
	l := line{ID: v.ID, Pills: []string{string(v.Status)}, Details: op.Supervised(v.ID)}
	if verdict := view.Verdict(v.Status == protocol.Alive, evidence, nil,
		op.Seen.Stopped(v.PID, v.Process)); verdict != string(v.Status) {
		l.Pills = append(l.Pills, verdict)
	}
	l.Facts = facts("pid", number(v.PID), "heartbeat", view.Ago(age))
	return l
}

// number returns a pid as text, or "" for none.
func number(pid int) string {
	if pid == 0 {
		return ""
	}
	return strconv.Itoa(pid)
}
