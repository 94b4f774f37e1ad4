package protocol

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// AuditShape says that paths in the record of an operation name calls by their ids (spec §54.1).
func AuditShape() audit.Shape { return audit.Shape{"stack": "callId"} }

// beats are the members that heartbeats renew, which the record leaves out: a heartbeat has no
// line.
var beats = []string{"lastHeartbeat", "beat", "grace", "pid", "process", "reportedBeat"}

// AuditText returns op as the record has it: without heartbeats, and without events, transitions
// and spans, of which the record tells itself.
func (op Operation) AuditText() string {
	var text strings.Builder
	text.WriteString(strings.TrimSuffix(op.headText(), "}"))
	text.WriteString(`,"supervisorHeartbeats":{`)
	for i := range op.Supervisors {
		s := &op.Supervisors[i]
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(wire.AppendQuote(nil, s.ID))
		text.WriteString(":" + s.auditText())
	}
	text.WriteString(`},"stack":[`)
	for i, f := range op.Stack {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(f.auditText())
	}
	text.WriteString("]}")
	return text.String()
}

// headText returns op without calls and supervisors.
func (op Operation) headText() string {
	op.Stack, op.Supervisors, op.Transitions, op.Events = nil, nil, nil, nil
	op.Spans = nil
	op.Audit, op.source = audit.Chain{}, nil
	return audit.Without(wire.Line(wire.Record(op.record)), append(beats,
		"stack", "supervisorHeartbeats", "transitions", "events")...)
}

func (f *Frame) auditText() string {
	return audit.Without(wire.Line(wire.Record(f.record)), beats...)
}

func (s *Supervisor) auditText() string {
	return audit.Without(wire.Line(wire.Record(s.record)), beats...)
}

// AuditPatch returns what has changed from before to op, except the revision.
func (op Operation) AuditPatch(before Operation) (patch []audit.Change) {
	before.Revision = op.Revision
	patch = audit.Diff(patch, "", before.headText(), op.headText())
	for _, f := range op.Stack {
		if was := before.Frame(f.CallID); was == nil {
			patch = audit.Diff(patch, framePath(f), "", f.auditText())
		} else if was != f {
			patch = audit.Diff(patch, framePath(f), was.auditText(), f.auditText())
		}
	}
	for _, f := range before.Stack {
		if op.Frame(f.CallID) == nil {
			patch = audit.Diff(patch, framePath(f), f.auditText(), "")
		}
	}

	for i := range op.Supervisors {
		s, was := &op.Supervisors[i], ""
		if old, ok := before.Supervisor(s.ID); ok {
			was = old.auditText()
		}
		patch = audit.Diff(patch, supervisorPath(s.ID), was, s.auditText())
	}
	for _, s := range before.Supervisors {
		if _, ok := op.Supervisor(s.ID); !ok {
			patch = audit.Diff(patch, supervisorPath(s.ID), s.auditText(), "")
		}
	}
	return patch
}

func framePath(f *Frame) string { return audit.Join("stack", f.CallID) }

func supervisorPath(id string) string { return audit.Join("supervisorHeartbeats", id) }

// AuditEvents returns what the patch of a line in the record of an operation means for people.
func AuditEvents(l audit.Line) (events []audit.Event) {
	for _, c := range l.Patch {
		in, rest, _ := strings.Cut(c.Path, "/")
		call, member, _ := strings.Cut(rest, "/")
		text := ""
		switch {
		case c.Path == "state":
			text = "the operation is " + strings.Trim(c.After, `"`)
		case in == "stack" && member == "" && c.After != "":
			text = call + " pushed"
		case in == "stack" && member == "":
			text = call + " gone"
		case in == "stack" && member == "state":
			text = call + " is " + strings.Trim(c.After, `"`)
		case in == "supervisorHeartbeats" && member == "status":
			text = "supervisor " + call + " is " + strings.Trim(c.After, `"`)
		default:
			continue
		}
		events = append(events, audit.Event{Kind: audit.EventChanged, Task: call, Text: text})
	}
	return events
}

// Touch returns op after an edit that changes nothing but its revision, so that its record can have
// another line.
func (op Operation) Touch() (Operation, error) {
	if op.Revision >= wire.LastRevision {
		return op, wire.ErrExhausted
	}
	op.Revision++
	op.effects = Effects{Verb: "touch"}
	op.Stack = slices.Clone(op.Stack)
	return op, nil
}
