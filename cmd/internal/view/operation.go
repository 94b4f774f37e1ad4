package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// An Operation is an operation to draw, with an observation.
type Operation struct {
	protocol.Operation
	Archived bool
	Seen     protocol.Observation
}

// Verdict returns one word: "alive", "stopped" if the process is stopped, or the evidence that it
// is dead. For a crash that is the evidence of the crash.
func Verdict(live bool, evidence protocol.Evidence, crash *protocol.Crash, stopped bool) string {
	switch {
	case crash != nil && !live:
		return string(crash.Evidence)
	case evidence != "":
		return string(evidence)
	case live && stopped:
		return "stopped"
	case live:
		return "alive"
	}

	return "dead"
}

var callColumns = []column{
	{title: "CALL", id: true}, {title: "PARTICIPANT", short: "WHO", id: true},
	{title: "PID", spare: true}, {title: "STATE"}, {title: "LAST HEARTBEAT", short: "BEAT"},
	{title: "SUPERVISOR", id: true, spare: true}, {title: "JUDGED NOW", short: "JUDGED"},
}

var supervisorColumns = []column{
	{title: "SUPERVISOR", id: true}, {title: "PID", spare: true}, {title: "STATUS"},
	{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "JUDGED NOW", short: "JUDGED"},
}

// Operation draws op: its state, its calls as a tree of callers, and its supervisors.
func (s Style) Operation(op Operation) string {
	var out strings.Builder
	s.head(&out, op)
	if len(op.Stack) > 0 {
		out.WriteByte('\n')
		s.table(&out, callColumns, op.tree(op.calls()))
	}

	if supervisors := op.supervisors(); len(supervisors) > 0 {
		out.WriteByte('\n')
		s.table(&out, supervisorColumns, supervisors)
	}
	return out.String()
}

func (s Style) head(out *strings.Builder, op Operation) {
	rest := fmt.Sprintf(", revision %d", op.Revision)
	if since := op.Since(); !since.IsZero() {
		rest += ", for " + Span(max(op.Seen.Now.Sub(since), 0))
	}
	if op.Archived {
		rest += ", archived"
	}

	word := string(op.State)
	fmt.Fprintf(out, "%s: %s%s\n", s.paint(strong, op.ID), s.paint(toneOf(word), word), rest)
	for _, t := range op.Transitions {
		text := Clean(fmt.Sprintf("%s  %s -> %s by %s: %s", t.At.Format(time.RFC3339), t.From, t.To,
			t.By, t.Reason))
		if s.Width == 0 || columns(text)+2 <= s.Width {
			fmt.Fprintf(out, "  %s\n", text)
			continue
		}

		for i, line := range wrap(text, s.Width-5) {
			if i == 0 {
				line = strings.Replace(line, " ", "  ", 1)
			} else {
				line = "  " + line
			}
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
}

// Since returns the time since when op has been in its state, or zero if that is unknown.
func (op Operation) Since() (since time.Time) {
	if n := len(op.Transitions); n > 0 {
		return op.Transitions[n-1].At
	}

	for _, f := range op.Stack {
		if since.IsZero() || !f.StartTime.IsZero() && f.StartTime.Before(since) {
			since = f.StartTime
		}
	}

	for _, e := range op.Events {
		if since.IsZero() || e.At.Before(since) {
			since = e.At
		}
	}

	return since
}

// calls returns the calls of op, the root caller first.
func (op Operation) calls() (nodes []*node) {
	for _, f := range op.Stack {
		evidence, age := op.Judge(f, op.Seen)
		nodes = append(nodes, &node{
			cells: []cell{
				{text: f.CallID, tone: strong}, {text: f.ParticipantID}, {text: pid(f.PID)},
				state(string(f.State)), {text: Ago(age)},
				{text: f.SupervisorID},
				state(Verdict(f.State.Live(), evidence, f.Crash,
					op.Seen.Stopped(f.PID, f.Process))),
			},
			name: fmt.Sprintf("call %s of %s", f.CallID, f.ParticipantID), details: op.Details(f),
		})
	}

	return nodes
}

// tree puts each of nodes, which are those of the stack, below its caller, and returns the roots.
func (op Operation) tree(nodes []*node) (roots []*node) {
	for i, caller := range op.Callers() {
		if caller < 0 {
			roots = append(roots, nodes[i])
			continue
		}
		nodes[caller].children = append(nodes[caller].children, nodes[i])
	}
	return roots
}

// pid returns n as text, or "-" if it is unknown.
func pid(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// Window describes a grace until the time until for something that has been silent for age. It
// returns "" if until is zero.
func Window(age time.Duration, until time.Time) string {
	if until.IsZero() {
		return ""
	}
	const why = "because everyone was silent and the observer had not looked"
	return fmt.Sprintf("silent for %s; a fresh window until %s, %s", Span(max(age, 0)),
		until.UTC().Format(time.RFC3339), why)
}

// Details returns facts about f, worded to follow "call CALL of PARTICIPANT ".
func (op Operation) Details(f *protocol.Frame) (all []string) {
	if said := f.Said().String(); said != "" {
		all = append(all, "says: "+said)
	}
	if f.Description != "" {
		all = append(all, "is described as: "+f.Description)
	}

	_, age := op.Judge(f, op.Seen)
	if window := Window(age, op.WindowOf(f, op.Seen)); window != "" {
		all = append(all, "is "+window)
	}

	for _, l := range op.Lingering(op.Seen.Now) {
		if l.CallID == f.CallID {
			all = append(all, "was asked to clean up and has not popped")
		}
	}

	if c := f.Crash; c != nil {
		all = append(all, fmt.Sprintf("crashed %s: %s, found by %s; it was %s",
			Ago(op.Seen.Now.Sub(c.At)), c.Evidence, c.DetectedBy, c.PreviousState))
		if f.State == protocol.FrameCrashed && f.SupervisorID != "" {
			all = append(all, op.waits(f))
		}
		for _, l := range c.LeftResources {
			all = append(all, fmt.Sprintf("has left %s: %s", l.Path, l.Error))
		}
	}

	if !f.FailOnCrash {
		all = append(all, "may crash without stopping the others")
	}

	return all
}

// waits returns what the crashed call f waits for.
func (op Operation) waits(f *protocol.Frame) string {
	v, known := op.Supervisor(f.SupervisorID)
	text := "waits for supervisor " + f.SupervisorID
	switch c := f.Crash; {
	case !known || v.Status == protocol.Dead:
		return "waits for the next pass: its supervisor " + f.SupervisorID + " is dead"
	case c.HandlingBy != nil:
		text += fmt.Sprintf(", whose handler %d started %s", c.HandlingBy.PID,
			Ago(op.Seen.Now.Sub(c.HandlingBy.At)))
	case !c.ReportedAt.IsZero():
		text += ", notified " + Ago(op.Seen.Now.Sub(c.ReportedAt))
	default:
		text += ", not notified yet"
	}

	return text
}

// supervisors returns the supervisors of op, each with its calls.
func (op Operation) supervisors() (nodes []*node) {
	known := make(map[string]bool)
	for _, v := range op.Supervisors {
		evidence, age := op.JudgeSupervisor(v, op.Seen)
		known[v.ID] = true
		nodes = append(nodes, &node{
			cells: []cell{
				{text: v.ID, tone: strong}, {text: pid(v.PID)}, state(string(v.Status)),
				{text: Ago(age)},
				state(Verdict(v.Status == protocol.Alive, evidence, nil,
					op.Seen.Stopped(v.PID, v.Process))),
			},
			name: "supervisor " + v.ID, details: op.Supervised(v.ID),
		})
	}

	for _, f := range op.Stack {
		if id := f.SupervisorID; id != "" && !known[id] {
			known[id] = true
			nodes = append(nodes, &node{
				cells: []cell{{text: id, tone: strong}, {}, state("missing"), {}, state("dead")},
				name:  "supervisor " + id, details: op.Supervised(id),
			})
		}
	}

	return nodes
}

// Supervised returns facts about the supervisor id and its calls, worded to follow "supervisor ID
// ".
func (op Operation) Supervised(id string) (all []string) {
	if v, known := op.Supervisor(id); known {
		_, age := op.JudgeSupervisor(v, op.Seen)
		if window := Window(age, op.WindowOfSupervisor(v, op.Seen)); window != "" {
			all = append(all, "is "+window)
		}
	}

	for _, f := range op.Stack {
		if f.SupervisorID != id {
			continue
		}

		text := "supervises " + f.CallID
		if f.SupervisorHandle != "" {
			text += fmt.Sprintf(" as %q", Clean(f.SupervisorHandle))
		}

		v, _ := op.Supervisor(id)
		switch {
		case f.State == protocol.FrameCrashed && v.Status == protocol.Alive:
			text += ", which has crashed and waits for it"
		case !f.State.Live():
			text += ", which has crashed"
		}

		all = append(all, text)
	}

	return all
}
