package page

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

func groupLanes(g Group) *chart {
	c := &chart{}
	c.sets(g.Registry.Events)
	c.events(g.Registry.Events)
	for _, s := range g.Registry.Services {
		l := c.lane("supervisor "+s.ID, s.ID, "")
		if len(l.spans) == 0 {
			l.spans = []span{{state: string(s.State), from: s.RunningSince}}
			c.sees(s.RunningSince)
		}
	}

	for _, l := range c.lanes {
		l.note = ""
	}
	if end := g.Registry.Supervision.End; !end.At.IsZero() {
		l := c.lane("group", "the group", "")
		l.spans = []span{{state: string(end.State), from: end.At, why: end.String()}}
		l.rank, l.weight = -1, root
		c.sees(end.At)
	}

	for _, a := range g.Alerts {
		if l := c.byName["supervisor "+a.ServiceID]; l != nil && !a.Timestamp.Before(c.from) {
			l.marks = append(l.marks, mark{a.Timestamp, alertSign(a.Type), alertMood(a.Type),
				string(a.Type) + ": " + a.Message})
			c.sees(a.Timestamp)
		}
	}
	for _, s := range g.Services() {
		c.service(s)
	}

	c.sees(g.Seen.Now)
	slices.SortStableFunc(c.lanes, func(a, b *lane) int { return cmp.Compare(a.rank, b.rank) })
	return c
}

// service draws how the last process of s has ended, and the signal that it was sent after that. It
// gives the lane of s its weight.
func (c *chart) service(s model.Service) {
	l := c.byName["supervisor "+s.ID]
	l.weight = living
	switch {
	case s.InTrouble():
		l.weight = dead
	case s.State.Final():
		l.weight = ended
	}

	if end := s.LastExit; end != nil && !end.At.Before(c.from) {
		m := mark{end.At, "×", "bad", "ended: " + explain.Ending(end)}
		if end.Class == policy.Success {
			m.sign, m.mood = "✓", "good"
		}
		l.marks = append(l.marks, m)
	}
	if at := s.TermSentAt; !at.IsZero() && !at.Before(c.from) {
		l.marks = append(l.marks, mark{at, "■", "warn", "TERM was sent"})
	}
}

// sets draws what restarts together as one span: from the failure of its cause until the last
// service that was stopped for it runs again, or is over.
func (c *chart) sets(events []observe.Event) {
	waits := make(map[string]string) // the services of the open set, and their cause
	failed := make(map[string]time.Time)
	var l *lane
	for _, e := range events {
		if e.Type != observe.SupervisorState {
			continue
		}

		cause := e.CauseID
		switch state := group.ServiceState(e.To); {
		case cause != "" && state == group.StateScheduled:
			if len(waits) == 0 {
				l = c.lane("sets", "restart together", "")
				l.rank, l.weight = -1, root
				since := failed[cause]
				if since.IsZero() {
					since = e.At
				}
				l.becomes("", cause, since)
			}
			waits[e.SupervisorID], waits[cause] = cause, cause
			l.because("because of " + cause + ": " +
				strings.Join(slices.Sorted(maps.Keys(waits)), ", "))
		case state == group.StateFailed:
			failed[e.SupervisorID] = e.At
		case waits[e.SupervisorID] != "" && (state == group.StateRunning || state.Final()):
			if delete(waits, e.SupervisorID); len(waits) == 0 {
				l.becomes("", "", e.At)
			}
		}
	}
}
