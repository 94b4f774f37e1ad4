package protocol

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// LineVersion is the schemaVersion of lines.
const LineVersion = 1

// A Line is one JSON object on one line, without a newline, and its revision.
type Line struct {
	Revision int64
	Text     string
}

// Lines returns what has happened in op after the revision since, oldest first, with an object for
// each event and transition (spec §14). If some may be missing, because they have left the ring of
// events or belong to an earlier operation with the same id, a line says so.
func (op Operation) Lines(since int64) []Line {
	return linesOf("operationId", op.ID, op.Events, op.Transitions, since)
}

// Lines returns what has happened in the group after the revision since of its registry. See
// Operation.Lines.
func (g Group) Lines(since int64) []Line {
	return linesOf("groupId", g.ID, g.Registry.Events, nil, since)
}

func linesOf(name, id string, events []Event, transitions []Transition, since int64) []Line {
	l := lines{name: name, id: id, since: since}
	events = inOrder(events, func(e Event) int64 { return e.Revision })
	transitions = inOrder(transitions, func(t Transition) int64 { return t.Revision })

	for i := range events {
		e := &events[i]
		for len(transitions) > 0 && transitions[0].Revision < e.Revision {
			l.transition(&transitions[0])
			transitions = transitions[1:]
		}

		if i == 0 && (e.Revision-1 > since || len(events) >= maxEvents && e.Revision > since) {
			l.gap(e.Revision - 1)
		}

		l.event(e)
	}

	for i := range transitions {
		l.transition(&transitions[i])
	}

	return l.all
}

// inOrder returns all sorted by revision. Writers keep that order, so it rarely has to sort.
func inOrder[T any](all []T, revision func(T) int64) []T {
	compare := func(a, b T) int { return cmp.Compare(revision(a), revision(b)) }
	if slices.IsSortedFunc(all, compare) {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, compare)
	return all
}

// lines are the lines after the revision since for the object whose member name is id.
type lines struct {
	name, id string
	since    int64
	all      []Line
}

func (l *lines) add(revision int64, members func(w *encoder)) {
	var w encoder
	w.open('{')
	w.int("schemaVersion", LineVersion)
	w.string(l.name, l.id)
	members(&w)
	w.close('}')
	text := jsontext.Value(w.buf)
	_ = text.Compact() // this encoder has written it
	l.all = append(l.all, Line{revision, string(text)})
}

func (l *lines) event(e *Event) {
	if e.Revision > l.since {
		l.add(e.Revision, func(w *encoder) { w.eventMembers(e) })
	}
}

func (l *lines) transition(t *Transition) {
	if t.Revision > l.since {
		l.add(t.Revision, func(w *encoder) {
			w.string("type", "operationState")
			w.transitionMembers(t)
		})
	}
}

// gap records that events up to revision, and some with the next one, may be missing.
func (l *lines) gap(revision int64) {
	l.add(revision, func(w *encoder) {
		w.int("revision", revision)
		w.string("type", "gap")
		w.int("after", l.since)
	})
}
