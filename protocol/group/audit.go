package group

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// beats are the members of a service that heartbeats renew, which the record leaves out: an edit
// that is BeatOnly has no line.
var beats = []string{"lastHeartbeat", "beat", "progressAt", "progressBeat"}

// AuditText returns g as its record has it (audit.md §54.3): the registry, without what heartbeats
// renew, and without events, which the lines of the record are.
func (g Group) AuditText() string {
	r := &g.Registry
	var text strings.Builder
	text.WriteString(strings.TrimSuffix(r.headText(), "}"))
	text.WriteString(`,"supervisors":{`)
	for i := range r.Services {
		s := &r.Services[i]
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(wire.AppendQuote(nil, s.ID))
		text.WriteString(":" + s.auditText())
	}
	text.WriteString("}}")
	return text.String()
}

// headText returns r without its services.
func (r Registry) headText() string {
	r.Services, r.Events, r.Audit = nil, nil, audit.Chain{}
	return audit.Without(wire.Line(wire.Record(r.record)), "supervisors", "events")
}

func (s *Service) auditText() string {
	return audit.Without(s.Encode(), beats...)
}

// AuditPatch returns what has changed in the registry from before to g, except the revision.
func (g Group) AuditPatch(before Group) (patch []audit.Change) {
	was, is := before.Registry, g.Registry
	was.Revision = is.Revision
	patch = audit.Diff(patch, "", was.headText(), is.headText())
	if wire.SameSlice(was.Services, is.Services) {
		return patch
	}

	old, now := was.Places(), is.Places()
	for i := range is.Services {
		s := &is.Services[i]
		if j, there := old[s.ID]; !there {
			patch = audit.Diff(patch, servicePath(s), "", s.auditText())
		} else if o := &was.Services[j]; !sameService(*o, *s) {
			patch = audit.Diff(patch, servicePath(s), o.auditText(), s.auditText())
		}
	}
	for i := range was.Services {
		s := &was.Services[i]
		if _, there := now[s.ID]; !there {
			patch = audit.Diff(patch, servicePath(s), s.auditText(), "")
		}
	}
	return patch
}

func servicePath(s *Service) string { return audit.Join("supervisors", s.ID) }

// AuditEvents returns what the patch of a line in the record of a group means for people.
func AuditEvents(l audit.Line) (events []audit.Event) {
	for _, c := range l.Patch {
		in, path, _ := strings.Cut(c.Path, "/")
		service, member, _ := strings.Cut(path, "/")
		word := strings.Trim(c.After, `"`)
		text := ""
		switch {
		case in == "supervisors" && member == "" && c.After != "":
			text = service + " registered"
		case in == "supervisors" && member == "":
			text = service + " removed"
		case in == "supervisors" && member == "state":
			text = service + " is " + word
		case in == "supervisors" && member == "startedAt" && c.After != "":
			text = service + " started"
		case in == "supervisors" && (member == "lastExit" || member == "lastExit/at") && c.After != "":
			text = service + " has ended"
		case c.Path == "owner" && word != "":
			text = "passes are by " + word
		case c.Path == "supervision/state" && word == "":
			text = "the group runs again"
		case c.Path == "supervision/state":
			text = "the group is " + word
		default:
			continue
		}
		if in != "supervisors" {
			service = ""
		}
		events = append(events, audit.Event{Kind: audit.EventChanged, Task: service, Text: text})
	}
	return events
}

// Stops reports whether a service of g is being stopped.
func (g Group) Stops() bool {
	return slices.ContainsFunc(g.Registry.Services, func(s Service) bool {
		return s.State == StateShuttingDown
	})
}

// Touch returns g after an edit that changes nothing but the revision of its registry, so that its
// record can have another line. It returns wire.ErrExhausted.
func (g Group) Touch() (Group, error) {
	if g.Registry.Revision >= wire.LastRevision {
		return g, wire.ErrExhausted
	}
	g.Registry.Revision++
	g.effects = Effects{Verb: "touch"}
	return g, nil
}
