package observe

import (
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// LineVersion is the schemaVersion of lines.
const LineVersion = 1

// A Line is one JSON object on one line, without a newline, and its revision.
type Line struct {
	Revision int64
	Text     string
}

// A Change is something that a line tells, with its Members.
type Change struct {
	Revision int64
	Members  func(c *wire.Codec)
}

// Lines returns what has happened after the revision since, oldest first, with an object for each
// event and for each of others (spec §14). Each object has id as its member name. If some may be
// missing, because they have left the ring of events or belong to an earlier document with the same
// id, a line says so.
func Lines(name, id string, events []Event, others []Change, since int64) (lines []Line) {
	var all []Change
	for i := range events {
		all = append(all, Change{events[i].Revision, events[i].members})
	}
	all = append(all, others...)
	oldest := oldestOf(events)
	all = slices.DeleteFunc(all, func(c Change) bool { return c.Revision <= since })

	if oldest-1 > since || len(events) >= MaxEvents && oldest > since {
		all = append(all, Change{oldest - 1, gap(oldest-1, since)})
	}

	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, c := range all {
		lines = append(lines, Line{c.Revision, wire.Line(func(w *wire.Writer) {
			w.Int("schemaVersion", LineVersion)
			w.String(name, id)
			c.Members(w.Codec())
		})})
	}
	return lines
}

// oldestOf returns the lowest revision of events, or 0 if there are none.
func oldestOf(events []Event) (oldest int64) {
	for i := range events {
		if r := events[i].Revision; i == 0 || r < oldest {
			oldest = r
		}
	}
	return oldest
}

// gap tells that events up to revision, and some with the next one, may be missing.
func gap(revision, since int64) func(c *wire.Codec) {
	return func(c *wire.Codec) {
		kind := "gap"
		c.Int64("revision", &revision, 0, wire.Always)
		c.String("type", &kind, wire.Always)
		c.Int64("after", &since, 0, wire.Always)
	}
}
