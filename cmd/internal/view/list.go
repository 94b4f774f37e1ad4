package view

import (
	"fmt"
	"strconv"
	"strings"
)

var listColumns = []column{
	{title: "OPERATION", id: true}, {title: "STATE"}, {title: "CALLS"}, {title: "CRASHED"},
	{title: "LAST HEARTBEAT", short: "BEAT"},
}

var supervisedColumns = []column{
	{title: "HANDLE"}, {title: "OPERATION", id: true}, {title: "CALL", id: true},
	{title: "PARTICIPANT", short: "WHO", id: true}, {title: "STATE"},
	{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "JUDGED NOW", short: "JUDGED"},
}

var groupsColumns = []column{
	{title: "GROUP", id: true}, {title: "SERVICES"}, {title: "RUNNING"},
	{title: "IN TROUBLE", short: "TROUBLE"}, {title: "ORCHESTRATOR"}, {title: "LAST PASS"},
}

// Ledger draws operations, each with a short summary of its calls below it, and below them groups
// and queues, one per line.
func (s Style) Ledger(ops []Operation, groups []Group, queues []Queue) string {
	var operations, others []*node
	for _, op := range ops {
		operations = append(operations, op.summary()...)
	}
	for _, g := range groups {
		others = append(others, g.summary())
	}

	var tables []string
	for _, table := range []string{
		s.table(listColumns, operations), s.table(groupsColumns, others), s.Queues(queues),
	} {
		if table != "" {
			tables = append(tables, table)
		}
	}
	return strings.Join(tables, "\n")
}

// summary returns op and its calls.
func (op Operation) summary() []*node {
	heading := []cell{
		{text: op.ID, tone: strong}, state(string(op.State)), {text: strconv.Itoa(len(op.Stack))},
		troubling(op.Crashed()), {text: Ago(op.Seen.Now.Sub(op.LastHeartbeat))},
	}
	if op.Undiscovered() > 0 {
		heading[1].tone = bad
	}

	nodes := []*node{{cells: heading}}
	for _, c := range op.Tree() {
		rest := fmt.Sprintf("%s, %s, %s", c.Verdict, c.Heard, c.ParticipantID)
		if c.SupervisorID != "" {
			rest += ", of " + c.SupervisorID
		}
		nodes = append(nodes, &node{depth: c.Depth + 1, cells: []cell{{text: c.CallID},
			state(string(c.State)), {text: rest, tone: toneOf(c.Verdict)}}})
	}

	return nodes
}

func (g Group) summary() *node {
	state := g.Orchestrated()
	return &node{cells: []cell{
		{text: g.ID, tone: strong}, {text: strconv.Itoa(len(g.Registry.Services))},
		{text: strconv.Itoa(g.Running())}, troubling(g.Troubled()),
		{text: state, tone: orchestratorTone(state)}, {text: g.LastPass()},
	}}
}

// troubling returns a cell for a number that should be 0.
func troubling(n int) cell {
	if n == 0 {
		return cell{text: "0"}
	}
	return cell{text: strconv.Itoa(n), tone: bad}
}

// Supervised draws the calls of a supervisor.
func (s Style) Supervised(calls []Call) string {
	var nodes []*node
	for _, c := range calls {
		nodes = append(nodes, &node{cells: []cell{
			{text: c.SupervisorHandle}, {text: c.Op.ID, tone: strong},
			{text: c.CallID, tone: strong}, {text: c.ParticipantID}, state(string(c.State)),
			{text: c.Heard}, state(c.Verdict),
		}})
	}
	return s.table(supervisedColumns, nodes)
}
