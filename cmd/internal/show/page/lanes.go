package page

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A lane shows the states of one thing over time, from left to right.
type lane struct {
	label, note string
	depth       int // the number of callers above it
	rank        int // lanes of lower rank come first
	weight      weight
	spans       []span
	marks       []mark
	silentSince time.Time // it is not known to be alive after that; zero: it is alive
}

// A weight is the importance of a lane, for when there are too many to draw.
type weight int

const (
	ended weight = iota
	living
	dead // it has crashed, or has been silent for a long time
	root // the calls that the others work for
)

// A span is a state over time. A zero end means that it continues; a zero begin means that it began
// before the oldest known event.
type span struct {
	state    string
	from, to time.Time
	why      string // the reason for it, if it has one
	text     string // in place of the state
}

// A mark is an event at one time.
type mark struct {
	at          time.Time
	sign        string // a character that tells what it is without its color
	mood, title string
}

// A chart is a set of lanes on one axis.
type chart struct {
	lanes    []*lane
	from, to time.Time
	left     int // the number of lanes that are not drawn
	byName   map[string]*lane
}

// lane returns the lane called name, and creates it if necessary.
func (c *chart) lane(name, label, note string) *lane {
	l := c.byName[name]
	if l == nil {
		l = &lane{label: label, note: note}
		if c.byName == nil {
			c.byName = make(map[string]*lane)
		}
		c.byName[name] = l
		c.lanes = append(c.lanes, l)
	}

	if l.note == "" {
		l.note = note
	}
	return l
}

// becomes ends the current state of l at the time at, and starts the state to, unless it is "". If
// no state is known before, from was the state until then.
func (l *lane) becomes(from, to string, at time.Time) {
	if n := len(l.spans); n > 0 && l.spans[n-1].to.IsZero() {
		l.spans[n-1].to = at
	} else if from != "" && n == 0 {
		l.spans = append(l.spans, span{state: from, to: at})
	}
	if to != "" {
		l.spans = append(l.spans, span{state: to, from: at})
	}
}

// because gives the reason for the state that l has begun.
func (l *lane) because(reason string) {
	if n := len(l.spans); n > 0 && l.spans[n-1].to.IsZero() {
		l.spans[n-1].why = reason
	}
}

// sees extends the axis to include a time.
func (c *chart) sees(at time.Time) {
	if at.IsZero() {
		return
	}
	if c.from.IsZero() || at.Before(c.from) {
		c.from = at
	}
	if at.After(c.to) {
		c.to = at
	}
}

// keep removes all but most lanes: first the least important, and of those the last. It keeps the
// roots and the dead, however many they are.
func (c *chart) keep(most int) {
	before := len(c.lanes)
	for w, excess := ended, before-most; w <= living && excess > 0; w++ {
		kept := c.lanes[:0:0]
		for _, l := range slices.Backward(c.lanes) {
			if l.weight == w && excess > 0 {
				excess--
			} else {
				kept = append(kept, l)
			}
		}
		slices.Reverse(kept)
		c.lanes = kept
	}
	c.left = before - len(c.lanes)
}

func operationLanes(op model.Operation) *chart {
	c := &chart{}
	all := c.lane("", "operation", "")
	all.rank, all.weight = -1, root

	for _, t := range op.Transitions {
		all.becomes(string(t.From), string(t.To), t.At)
		c.sees(t.At)
	}

	if len(op.Transitions) == 0 {
		all.spans = []span{{state: string(op.State)}}
	}

	c.events(op.Events)
	c.calls(op)
	if !op.State.Terminal() {
		c.sees(op.Seen.Now)
	}

	c.failure(op)
	c.nest(op)
	slices.SortStableFunc(c.lanes, func(a, b *lane) int { return cmp.Compare(a.rank, b.rank) })
	return c
}

// failure marks the call for which op has failed.
func (c *chart) failure(op model.Operation) {
	for _, t := range op.Transitions {
		if t.Cause == nil || t.From != protocol.Running {
			continue
		}
		if l := c.byName["call "+t.Cause.Call]; l != nil {
			l.marks = append(l.marks, mark{t.At, "×", "bad", explain.Why(t)})
			l.weight = max(l.weight, dead)
		}
	}
}

func (c *chart) calls(op model.Operation) {
	callers := op.Callers()
	for i, call := range op.Calls() {
		l := c.lane("call "+call.CallID, call.CallID, "")
		l.note = call.ParticipantID
		if n := len(l.spans); n == 0 || !l.spans[n-1].to.IsZero() {
			l.spans = append(l.spans, span{state: string(call.State), from: call.StartTime})
			c.sees(call.StartTime)
		}

		if call.State.Live() && op.Seen.Now.Sub(call.LastHeartbeat)/2 > op.HeartbeatInterval {
			l.silentSince = call.LastHeartbeat
		}

		if call.State.Live() && call.Dead() {
			l.becomes("", call.Verdict, call.LastHeartbeat)
			l.because("no pass has found it yet")
		}

		switch {
		case callers[i] < 0:
			l.weight = root
		case call.Dead() || !l.silentSince.IsZero():
			l.weight = dead
		default:
			l.weight = living
		}
	}
}

func (c *chart) events(events []observe.Event) {
	for _, e := range events {
		c.sees(e.At)
		switch e.Type {
		case observe.CallStarted:
			c.call(e, e.By).becomes("", string(protocol.FrameActive), e.At)
		case observe.CallState:
			c.call(e, "").becomes(e.From, e.To, e.At)
		case observe.CallEnded:
			c.call(e, "").becomes(cmp.Or(e.From, string(protocol.FrameActive)), "", e.At)
		case observe.SupervisorState:
			l := c.supervisor(e)
			l.becomes(e.From, e.To, e.At)
			l.because(e.Reason)
		case observe.CallReadiness:
			c.call(e, "").says(e)
		case observe.SupervisorReadiness:
			c.supervisor(e).says(e)
		}
	}
}

func (c *chart) call(e observe.Event, note string) *lane {
	return c.lane("call "+e.CallID, e.CallID, note)
}

func (c *chart) supervisor(e observe.Event) *lane {
	l := c.lane("supervisor "+e.SupervisorID, e.SupervisorID, "supervisor")
	l.rank, l.weight = 1, living
	return l
}

func (l *lane) says(e observe.Event) {
	l.marks = append(l.marks, mark{e.At, "“", table.Mood(e.To), l.label + " says: " +
		e.To})
}
