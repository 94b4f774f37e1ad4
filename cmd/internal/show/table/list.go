package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
)

var runningColumns = []column{
	{title: "OPERATION", id: true}, {title: "STATE"}, {title: "CALLS"}, {title: "CRASHED"},
	{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "WHY", sinks: true},
}

var pastColumns = []column{
	{title: "OPERATION", id: true}, {title: "STATE"}, {title: "ENDED"},
	{title: "NEXT", sinks: true, below: "see"}, {title: "WHY", sinks: true},
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

// A Listing is a whole ledger, or its groups or queues alone.
type Listing struct {
	Operations []model.Operation // those that have not ended
	Ended      []model.Operation // those that have, in the order in which they are drawn
	Others     int               // number of other operations that have ended
	Groups     []model.Group
	Queues     []model.Queue
}

// Ledger draws what is running, each operation with those of its calls that are not well; what has
// ended, and why; how many others there are; and groups and queues, one per line.
func (s Style) Ledger(l Listing) string {
	var running, ended, groups []*node
	why := false
	for _, op := range l.Operations {
		running = append(running, summary(op)...)
		why = why || explain.Failure(op) != ""
	}
	for _, op := range l.Ended {
		ended = append(ended, ending(op, l.next(op)))
	}
	for _, g := range l.Groups {
		groups = append(groups, groupSummary(g))
	}

	columns := runningColumns
	if !why {
		columns = columns[:len(columns)-1]
		for _, n := range running {
			n.cells = n.cells[:min(len(n.cells), len(columns))]
		}
	}
	var parts []string
	for _, part := range []string{
		s.table(columns, running), s.table(pastColumns, ended), others(l.Others),
		s.table(groupsColumns, groups), s.Queues(l.Queues),
	} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n")
}

// others returns the line about n operations that are not listed.
func others(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 other operation has ended: dpl-status --all\n"
	}
	return fmt.Sprintf("%d other operations have ended: dpl-status --all\n", n)
}

// next returns the command that shows op, of those that have ended.
func (l Listing) next(op model.Operation) string {
	name := op.ID
	for _, g := range l.Groups {
		if g.ID == op.ID {
			name = "--op " + op.ID
		}
	}
	for _, q := range l.Queues {
		if q.ID == op.ID {
			name = "--op " + op.ID
		}
	}

	switch {
	case !op.Superseded:
		return "dpl-status " + name
	case op.RunID == "":
		return "dpl-status " + name + " --runs"
	}
	return "dpl-status " + name + " --run " + op.RunID[:min(len(op.RunID), 8)]
}

// summary returns op and those of its calls that are not well.
func summary(op model.Operation) []*node {
	heading := []cell{
		{text: op.ID, tone: strong}, state(string(op.State)), {text: strconv.Itoa(len(op.Stack))},
		troubling(op.Crashed()), {text: explain.Ago(op.Seen.Now.Sub(op.LastHeartbeat))}, {text: explain.Failure(op)},
	}
	if op.Undiscovered() > 0 {
		heading[1].tone = bad
	}

	nodes := []*node{{cells: heading}}
	var above []int // depths of the listed callers of a call
	for _, c := range op.Tree() {
		if c.State.Live() && c.Verdict == "alive" {
			continue
		}
		for len(above) > 0 && above[len(above)-1] >= c.Depth {
			above = above[:len(above)-1]
		}
		above = append(above, c.Depth)
		rest := fmt.Sprintf("%s, %s, %s", c.Verdict, explain.Heard(c.Judgement), c.ParticipantID)
		if c.SupervisorID != "" {
			rest += ", of " + c.SupervisorID
		}
		nodes = append(nodes, &node{depth: len(above), cells: []cell{{text: c.CallID},
			state(string(c.State)), {text: rest, tone: toneOf(c.Verdict)}}})
	}

	return nodes
}

// ending returns how op, which has ended, has ended.
func ending(op model.Operation, next string) *node {
	ended := cell{}
	if at := op.EndedAt(); !at.IsZero() {
		ended.text = explain.Ago(op.Seen.Now.Sub(at))
	}
	return &node{cells: []cell{{text: op.ID, tone: strong}, state(op.Outcome()), ended,
		{text: next}, {text: explain.Failure(op)}}}
}

func groupSummary(g model.Group) *node {
	state := g.Orchestrated()
	var maintained []string
	for _, s := range g.Services() {
		if note := explain.InMaintenance(s); note != "" {
			maintained = append(maintained, s.ID+": "+note)
		}
	}
	return &node{details: maintained, cells: []cell{
		{text: g.ID, tone: strong}, {text: strconv.Itoa(len(g.Registry.Services))},
		{text: strconv.Itoa(g.Running())}, troubling(g.Troubled()),
		{text: state, tone: orchestratorTone(state)}, {text: explain.LastPass(g)},
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
func (s Style) Supervised(calls []model.Call) string {
	var nodes []*node
	for _, c := range calls {
		nodes = append(nodes, &node{cells: []cell{
			{text: c.SupervisorHandle}, {text: c.Op.ID, tone: strong},
			{text: c.CallID, tone: strong}, {text: c.ParticipantID}, state(string(c.State)),
			{text: explain.Heard(c.Judgement)}, state(c.Verdict),
		}})
	}
	return s.table(supervisedColumns, nodes)
}
