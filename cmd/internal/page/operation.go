package page

import (
	"fmt"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

func (w *writer) operation(op view.Operation) {
	w.open("p", "class", "facts")
	if since := op.Since(); !since.IsZero() {
		w.fact(string(op.State)+" for", view.Span(max(op.Seen.Now.Sub(since), 0)))
	}
	w.fact("revision", strconv.FormatInt(op.Revision, 10))
	w.fact("beats every", view.Span(op.HeartbeatInterval))
	w.fact("stale after", view.Span(op.StalenessThreshold))
	if op.Aborted {
		w.fact("abort", "requested")
	}
	if op.Archived {
		w.fact("in the", "archive")
	}
	w.close()
	for _, t := range op.Transitions {
		w.open("p", "class", "reason")
		w.time(t.At)
		w.text(fmt.Sprintf(" %s → ", t.From))
		w.element("b", view.Mood(string(t.To)), string(t.To))
		w.text(fmt.Sprintf(" by %s: %s", t.By, t.Reason))
		w.close()
	}
	if len(op.Stack) > 0 {
		w.element("h3", "", "Calls")
		w.tree(w.calls(op))
	}
	w.timeline(operationLanes(op))
	if len(op.Supervisors) > 0 {
		w.element("h3", "", "Supervisors")
		var items []item
		for _, v := range op.Supervisors {
			items = append(items, item{0, func() { w.supervisor(op, v) }})
		}
		w.tree(items)
	}
	w.entries(operationEntries(op))
}

// calls returns the calls of op in the order of their tree: each before those that it has called.
func (w *writer) calls(op view.Operation) (items []item) {
	const root = -1
	called := make(map[int][]int)
	for i, caller := range op.Callers() {
		called[caller] = append(called[caller], i)
	}

	var add func(caller, depth int)
	add = func(caller, depth int) {
		for _, i := range called[caller] {
			items = append(items, item{depth, func() { w.frame(op, op.Stack[i]) }})
			add(i, depth+1)
		}
	}
	add(root, 0)
	return items
}

func (w *writer) frame(op view.Operation, f *protocol.Frame) {
	evidence, age := op.Judge(f, op.Seen)
	w.open("div", "class", "line")
	w.element("b", "id", f.CallID)
	w.pill(string(f.State))
	if verdict := view.Verdict(f.State.Live(), evidence, f.Crash, op.Seen.Stopped(f.PID, f.Process)); verdict != "alive" {
		w.pill(verdict)
	}
	w.fact("by", f.ParticipantID)
	if f.PID != 0 {
		w.fact("pid", strconv.Itoa(f.PID))
	}
	w.fact("heartbeat", view.Ago(age))
	w.fact("supervisor", f.SupervisorID)
	w.fact("handle", f.SupervisorHandle)
	w.close()
	w.list(op.Details(f))
}

// list writes what there is to say of a node.
func (w *writer) list(texts []string) {
	for _, text := range texts {
		w.element("div", "detail", text)
	}
}

func (w *writer) supervisor(op view.Operation, v protocol.Supervisor) {
	evidence, age := op.JudgeSupervisor(v, op.Seen)
	w.open("div", "class", "line")
	w.element("b", "id", v.ID)
	w.pill(string(v.Status))
	if verdict := view.Verdict(v.Status == protocol.Alive, evidence, nil, op.Seen.Stopped(v.PID, v.Process)); verdict != string(v.Status) {
		w.pill(verdict)
	}
	if v.PID != 0 {
		w.fact("pid", strconv.Itoa(v.PID))
	}
	w.fact("heartbeat", view.Ago(age))
	w.close()
	w.list(op.Supervised(v.ID))
}
