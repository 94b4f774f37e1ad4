package queue

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// AuditShape says that paths in the record of a queue name tasks by their ids; an id may have ended
// more than once (spec §54).
func AuditShape() audit.Shape { return audit.Shape{"tasks": "taskId", "ended": audit.Queued} }

// AuditLeftOut are the paths of what the record of a queue leaves out (spec §54.4): counters, of which
// the lines tell themselves, and evidence that claimers are alive.
func AuditLeftOut() []string {
	return []string{"counters", "tasks/*/claim/beat", "tasks/*/claim/process", "tasks/*/claim/keeper"}
}

// AuditText returns q as the record has it: the content of its file without the record and
// AuditLeftOut, and without white space.
func (q Queue) AuditText() string {
	q = q.recorded()
	return wire.Line(wire.Record(q.record))
}

// AuditLayout returns AuditText in the layout of Encode.
func (q Queue) AuditLayout() string { return q.recorded().Encode() }

// recorded returns q without its record, and without the text that it was decoded from.
func (q Queue) recorded() Queue {
	q.Audit, q.source, q.Counters = audit.Chain{}, nil, Counters{}
	q.Tasks = slices.Clone(q.Tasks)
	for i, t := range q.Tasks {
		q.Tasks[i] = t.recorded()
	}
	q.Ended = slices.Clone(q.Ended)
	for i := range q.Ended {
		q.Ended[i].source, q.Ended[i].piece = nil, wire.Piece{}
	}
	return q
}

// AuditPatch returns what has changed from before to q, except the revision.
func (q Queue) AuditPatch(before Queue) (patch []audit.Change) {
	before.Revision = q.Revision
	patch = audit.Diff(patch, "", before.headText(), q.headText())
	patch = q.tasksPatch(patch, before.Tasks)
	return q.endedPatch(patch, before.Ended)
}

// headText returns q without its tasks.
func (q Queue) headText() string {
	q.Tasks, q.Ended = nil, nil
	return q.AuditText()
}

// tasksPatch adds what has changed in the tasks. Both have rising numbers, and share those that are
// unchanged.
func (q Queue) tasksPatch(patch []audit.Change, before []*Task) []audit.Change {
	i, j := 0, 0
	for i < len(before) || j < len(q.Tasks) {
		switch {
		case i < len(before) && j < len(q.Tasks) && before[i] == q.Tasks[j]:
			i, j = i+1, j+1
		case j == len(q.Tasks) || i < len(before) && before[i].Seq < q.Tasks[j].Seq:
			patch = audit.Diff(patch, taskPath(before[i]), before[i].text(), "")
			i++
		case i == len(before) || q.Tasks[j].Seq < before[i].Seq:
			patch = audit.Diff(patch, taskPath(q.Tasks[j]), "", q.Tasks[j].text())
			j++
		default:
			patch = audit.Diff(patch, taskPath(before[i]), before[i].text(), q.Tasks[j].text())
			i, j = i+1, j+1
		}
	}
	return patch
}

func taskPath(t *Task) string { return audit.Join("tasks", t.ID) }

func (t *Task) text() string { return t.recorded().Encode() }

// recorded returns t without what its record leaves out.
func (t *Task) recorded() *Task {
	if t.Claim == nil {
		return t
	}
	own, claim := *t, *t.Claim
	claim.Beat, claim.Process, claim.Keeper = observe.Beat{}, observe.Process{}, observe.Process{}
	own.Claim = &claim
	return &own
}

// endedPatch adds what has changed in the tasks that have ended: the oldest go, and others come.
func (q Queue) endedPatch(patch []audit.Change, before []Ended) []audit.Change {
	gone := 0
	for gone < len(before) && !beginsWith(q.Ended, before[gone:]) {
		gone++
	}

	for _, e := range before[:gone] {
		patch = audit.Diff(patch, "ended/0", e.Encode(), "")
	}
	for _, e := range q.Ended[len(before)-gone:] {
		patch = audit.Diff(patch, "ended/-", "", e.Encode())
	}
	return patch
}

// beginsWith reports whether all begins with those of first.
func beginsWith(all, first []Ended) bool {
	return len(first) <= len(all) && slices.EqualFunc(first, all[:len(first)], func(a, b Ended) bool {
		return a.ID == b.ID && a.End == b.End && a.At.Equal(b.At) && a.Last == b.Last
	})
}

// Touch returns q after an edit that changes nothing but its revision, so that its record can have
// another line. It returns ErrNoQueue for a tombstone.
func (q Queue) Touch() (Queue, error) {
	switch {
	case q.Removed:
		return q, ErrNoQueue
	case q.Revision >= wire.LastRevision:
		return q, wire.ErrExhausted
	}
	q.Revision++
	q.effects = Effects{Verb: "touch"}
	return q, nil
}
