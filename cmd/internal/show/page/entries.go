package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An entry is an event, or the end of a task: one line of a list.
type entry struct {
	revision int64
	At       time.Time
	What     string // with its object
	From, To string
	By       string
	Reason   string
	Major    bool // the state of the operation has changed
}

// entries are all events, or tasks that have ended, oldest first.
type entries struct {
	Open    bool
	Count   string
	Entries []entry
}

// entriesOf returns nil if there are no events.
func entriesOf(all []entry) *entries {
	const many = 40
	if len(all) == 0 {
		return nil
	}
	return &entries{Open: len(all) <= many, Count: explain.Plural(len(all), "change") + " of state",
		Entries: all}
}

func operationEntries(op model.Operation) *entries {
	all := eventEntries(op.Events)
	for _, t := range op.Transitions {
		all = append(all, entry{t.Revision, t.At, "operation", string(t.From), string(t.To), t.By,
			explain.Why(t), true})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.revision, b.revision) })
	return entriesOf(all)
}

func eventEntries(events []observe.Event) (all []entry) {
	for _, e := range events {
		h := entry{revision: e.Revision, At: e.At, From: e.From, To: e.To, By: e.By,
			Reason: e.Reason, What: strings.TrimSpace("call " + e.CallID)}
		switch e.Type {
		case observe.SupervisorState, observe.SupervisorReadiness:
			h.What = "supervisor " + e.SupervisorID
		}

		switch e.Type {
		case observe.CallStarted:
			h.What += " started"
		case observe.CallEnded:
			h.What += " ended"
		case observe.CallReadiness, observe.SupervisorReadiness:
			h.What += " says"
		}

		for _, l := range e.LeftResources {
			h.Reason = strings.TrimPrefix(h.Reason+"; ", "; ") + "left " + l.Path + ": " + l.Error
		}

		all = append(all, h)
	}

	return all
}
