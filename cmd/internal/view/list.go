package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol"
)

var listColumns = []column{
	{title: "OPERATION", id: true}, {title: "STATE"}, {title: "CALLS"}, {title: "CRASHED"},
	{title: "LAST HEARTBEAT", short: "BEAT"},
}

// Ledger draws all operations, and below them all groups.
func (s Style) Ledger(ops []Operation, groups []Group) string {
	between := ""
	if len(ops) > 0 && len(groups) > 0 {
		between = "\n"
	}
	return s.List(ops) + between + s.Groups(groups)
}

// List draws all operations, each with a short summary of its calls below it.
func (s Style) List(ops []Operation) string {
	if len(ops) == 0 {
		return ""
	}

	var out strings.Builder
	var roots []*node
	for _, op := range ops {
		roots = append(roots, op.summary())
	}

	s.table(&out, listColumns, roots)
	return out.String()
}

func (op Operation) summary() *node {
	n := &node{cells: []cell{
		{text: op.ID, tone: strong}, state(string(op.State)), {text: strconv.Itoa(len(op.Stack))},
		{text: strconv.Itoa(op.Crashed())},
		{text: Ago(op.Seen.Now.Sub(op.LastHeartbeat))},
	}}

	if op.Crashed() > 0 {
		n.cells[3].tone = bad
	}
	if op.Undiscovered() > 0 {
		n.cells[1].tone = bad
	}

	var calls []*node
	for _, f := range op.Stack {
		evidence, age := op.Judge(f, op.Seen)
		verdict := Verdict(f.State.Live(), evidence, f.Crash, op.Seen.Stopped(f.PID, f.Process))
		rest := cell{text: fmt.Sprintf("%s, %s, %s", verdict, Ago(age), f.ParticipantID),
			tone: toneOf(verdict)}
		if f.SupervisorID != "" {
			rest.text += ", of " + f.SupervisorID
		}
		calls = append(calls, &node{cells: []cell{{text: f.CallID}, state(string(f.State)), rest}})
	}

	n.children = op.tree(calls)
	return n
}

// Crashed returns the number of calls of op that have crashed and are still in the stack.
func (op Operation) Crashed() (n int) {
	for _, f := range op.Stack {
		if !f.State.Live() {
			n++
		}
	}
	return n
}

// Undiscovered returns the number of calls of op that look dead now but have not been declared
// crashed.
func (op Operation) Undiscovered() (n int) {
	for _, f := range op.Stack {
		if evidence, _ := op.Judge(f, op.Seen); f.State.Live() && evidence != "" {
			n++
		}
	}
	return n
}

// A Call is a supervised call in a list sorted by handle.
type Call struct {
	Operation, Handle, Call, Participant, State, Verdict string
	Age                                                  string
}

// Calls draws the calls of a supervisor.
func (s Style) Calls(calls []Call) string {
	if len(calls) == 0 {
		return ""
	}

	var out strings.Builder
	var nodes []*node
	for _, c := range calls {
		nodes = append(nodes, &node{cells: []cell{
			{text: c.Handle}, {text: c.Operation, tone: strong}, {text: c.Call, tone: strong},
			{text: c.Participant}, state(c.State), {text: c.Age}, state(c.Verdict),
		}})
	}

	s.table(&out, []column{
		{title: "HANDLE"}, {title: "OPERATION", id: true}, {title: "CALL", id: true},
		{title: "PARTICIPANT", short: "WHO", id: true}, {title: "STATE"},
		{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "JUDGED NOW", short: "JUDGED"},
	}, nodes)

	return out.String()
}

// Groups draws all groups, one per line.
func (s Style) Groups(groups []Group) string {
	if len(groups) == 0 {
		return ""
	}

	var out strings.Builder
	var nodes []*node
	for _, g := range groups {
		age, state := "-", g.Orchestrated()
		if _, a := g.OrchestratorHeard(g.Seen); !g.Orchestrator.Heartbeat.IsZero() {
			age = Ago(a)
		}

		trouble := cell{text: strconv.Itoa(g.Troubled())}
		if g.Troubled() > 0 {
			trouble.tone = bad
		}

		nodes = append(nodes, &node{cells: []cell{
			{text: g.ID, tone: strong}, {text: strconv.Itoa(len(g.Registry.Services))},
			{text: strconv.Itoa(g.Running())}, trouble,
			{text: state, tone: orchestratorTone(state)}, {text: age},
		}})
	}

	s.table(&out, []column{
		{title: "GROUP", id: true}, {title: "SERVICES"}, {title: "RUNNING"},
		{title: "IN TROUBLE", short: "TROUBLE"}, {title: "ORCHESTRATOR"}, {title: "LAST PASS"},
	}, nodes)

	return out.String()
}

// Running returns the number of services of g in state running.
func (g Group) Running() (n int) {
	for i := range g.Registry.Services {
		if g.Registry.Services[i].State == protocol.StateRunning {
			n++
		}
	}
	return n
}
