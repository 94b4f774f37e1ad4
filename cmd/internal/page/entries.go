package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An entry is an event, one line of a list.
type entry struct {
	revision int64
	At       time.Time
	What     string // with its object
	From, To string
	By       string
	Reason   string
	Major    bool // the state of the operation has changed
}

// entries are all events, oldest first.
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
	return &entries{Open: len(all) <= many, Count: count(len(all), "change"), Entries: all}
}

func operationEntries(op view.Operation) *entries {
	all := eventEntries(op.Events)
	for _, t := range op.Transitions {
		all = append(all, entry{t.Revision, t.At, "operation", string(t.From), string(t.To), t.By,
			t.Reason, true})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.revision, b.revision) })
	return entriesOf(all)
}

func groupEntries(g Group) *entries { return entriesOf(eventEntries(g.Registry.Events)) }

func eventEntries(events []observe.Event) (all []entry) {
	for _, e := range events {
		h := entry{revision: e.Revision, At: e.At, From: e.From, To: e.To, By: e.By,
			Reason: e.Reason}
		switch e.Type {
		case observe.CallStarted:
			h.What = fmt.Sprintf("call %s started", e.CallID)
		case observe.CallEnded:
			h.What = fmt.Sprintf("call %s ended", e.CallID)
		case observe.CallReadiness:
			h.What = fmt.Sprintf("call %s says", e.CallID)
		case observe.SupervisorState:
			h.What = "supervisor " + e.SupervisorID
		case observe.SupervisorReadiness:
			h.What = fmt.Sprintf("supervisor %s says", e.SupervisorID)
		default:
			h.What = strings.TrimSpace("call " + e.CallID)
		}

		for _, l := range e.LeftResources {
			h.Reason = strings.TrimPrefix(h.Reason+"; ", "; ") + "left " + l.Path + ": " + l.Error
		}

		all = append(all, h)
	}

	return all
}
