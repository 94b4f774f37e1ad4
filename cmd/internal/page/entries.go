package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

// A entry is a line of what has happened.
type entry struct {
	revision int64
	at       time.Time
	what     string // and to whom
	from, to string
	by       string
	reason   string
	major    bool // the state of the operation has changed
}

// entry writes h as one line.
func (w *writer) entry(h entry) {
	w.text(h.what)
	if h.to != "" {
		w.text(": ")
		if h.from != "" {
			w.text(h.from + " → ")
		}
		w.element("b", view.Mood(h.to), h.to)
	}
	if h.reason != "" {
		w.text(", " + h.reason)
	}
	if h.by != "" {
		w.element("i", "", " by "+h.by)
	}
}

func operationEntries(op view.Operation) (all []entry) {
	all = eventEntries(op.Events)
	for _, t := range op.Transitions {
		all = append(all, entry{t.Revision, t.At, "operation", string(t.From), string(t.To), t.By, t.Reason, true})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.revision, b.revision) })
	return all
}

func groupEntries(g Group) []entry { return eventEntries(g.Registry.Events) }

func eventEntries(events []protocol.Event) (all []entry) {
	for _, e := range events {
		h := entry{revision: e.Revision, at: e.At, from: e.From, to: e.To, by: e.By, reason: e.Reason}
		switch e.Type {
		case protocol.CallStarted:
			h.what = fmt.Sprintf("call %s started", e.CallID)
		case protocol.CallEnded:
			h.what = fmt.Sprintf("call %s ended", e.CallID)
		case protocol.CallReadiness:
			h.what = fmt.Sprintf("call %s says", e.CallID)
		case protocol.SupervisorState:
			h.what = "supervisor " + e.SupervisorID
		case protocol.SupervisorReadiness:
			h.what = fmt.Sprintf("supervisor %s says", e.SupervisorID)
		default:
			h.what = strings.TrimSpace("call " + e.CallID)
		}
		for _, l := range e.LeftResources {
			h.reason = strings.TrimPrefix(h.reason+"; ", "; ") + "left " + l.Path + ": " + l.Error
		}
		all = append(all, h)
	}
	return all
}

// entries writes all that has happened, oldest first; many are folded.
func (w *writer) entries(all []entry) {
	if len(all) == 0 {
		return
	}
	const many = 40
	attributes := []string{"class", "entries"}
	if len(all) <= many {
		attributes = append(attributes, "open", "open")
	}
	w.open("details", attributes...)
	w.element("summary", "", count(len(all), "change")+" of state")
	w.open("table")
	for _, h := range all {
		class := ""
		if h.major {
			class = "weighty"
		}
		w.open("tr", "class", class)
		w.open("td", "class", "when")
		w.time(h.at)
		w.close()
		w.open("td")
		w.entry(h)
		w.close()
		w.close()
	}
	w.close()
	w.close()
}
