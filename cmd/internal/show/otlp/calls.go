package otlp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
)

// A call is what an operation still knows of a call, open or ended.
type call struct {
	trace.Span
	description string
	open        bool
	crashed     bool
	events      []event

	context trace.Context // of its span
	parent  string        // the id of the span above it
}

// An event is a change of state during a span.
type event struct {
	at         time.Time
	name       string
	attributes attributes
}

// calls returns all calls that op knows, in the order of their starts, and the number of those of
// which it knows only that they have ended. Open ones end at now.
func calls(op protocol.Operation, now time.Time) (all []call, lost int) {
	for _, s := range op.Spans {
		all = append(all, call{Span: s, crashed: !s.CrashedAt.IsZero()})
	}
	for _, f := range op.Stack {
		all = append(all, ofFrame(f, now))
	}

	kept := len(all)
	for end, e := range op.Events {
		if e.Type != observe.CallEnded || hasSpan(all[:kept], e) {
			continue
		}
		if start := startOf(op.Events[:end], e.CallID); start >= 0 {
			all = append(all, ofEvents(op, op.Events[start], e))
		} else {
			lost++
		}
	}

	slices.SortStableFunc(all, func(a, b call) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), b.EndedAt.Compare(a.EndedAt))
	})
	for i := range all {
		all[i].EndedAt = latest(all[i].StartTime, all[i].EndedAt)
	}
	for _, e := range op.Events {
		note(all, op, e)
	}
	for i := range all {
		all[i].noteCrash()
	}

	return all, lost
}

// ofFrame returns an open call.
func ofFrame(f *protocol.Frame, now time.Time) call {
	c := call{Span: trace.Span{
		CallID: f.CallID, CallerID: f.CallerID, ParticipantID: f.ParticipantID,
		Traceparent: f.Traceparent, StartTime: f.StartTime, EndedAt: now, PID: f.PID,
		HostID: f.Identity().HostID, State: string(f.State),
	}, description: f.Description, open: true}
	if f.Crash != nil {
		c.crashed, c.CrashedAt, c.Evidence = true, f.Crash.At, string(f.Crash.Evidence)
	}
	return c
}

// ofEvents returns a call in no trace that has ended, from its first and last event.
func ofEvents(op protocol.Operation, start, end observe.Event) call {
	c := call{Span: trace.Span{
		CallID: start.CallID, CallerID: start.CallerID, ParticipantID: start.By,
		StartTime: start.At, EndedAt: end.At, State: end.From,
	}}

	if cause := op.CauseOf(end); cause != nil && c.endedLive() {
		c.Reason = cmp.Or(explain.Happened(*cause), "failed")
	}
	return c
}

// endedLive reports whether c was popped by its participant, or on its behalf.
func (c *call) endedLive() bool { return !c.open && protocol.FrameState(c.State).Live() }

// hasSpan reports whether one of all is the call that e ends.
func hasSpan(all []call, e observe.Event) bool {
	return slices.ContainsFunc(all, func(c call) bool {
		return c.CallID == e.CallID && c.EndedAt.Equal(e.At)
	})
}

// startOf returns the index of the last start of call in events, or -1.
func startOf(events []observe.Event, call string) int {
	for i, e := range slices.Backward(events) {
		if e.Type == observe.CallStarted && e.CallID == call {
			return i
		}
	}
	return -1
}

// note adds e to the call that it is about.
func note(all []call, op protocol.Operation, e observe.Event) {
	if e.Type != observe.CallState && e.Type != observe.CallReadiness {
		return
	}

	for i := range slices.Backward(all) {
		c := &all[i]
		if c.CallID != e.CallID || e.At.Before(c.StartTime) || e.At.After(c.EndedAt) {
			continue
		}

		evidence := ""
		if e.To == string(protocol.FrameCrashed) {
			c.crashed = true
			if cause := op.CauseOf(e); cause != nil && c.Evidence == "" {
				c.Evidence = string(cause.Evidence)
			}
			evidence = c.Evidence
		}
		c.events = append(c.events, event{e.At, e.To, attributes{}.
			text("dpl.evidence", evidence).text("dpl.reason", e.Reason).text("dpl.by", e.By)})
		return
	}
}

// noteCrash adds the event of a crash that the operation has forgotten.
func (c *call) noteCrash() {
	crashed := string(protocol.FrameCrashed)
	if !c.crashed || slices.ContainsFunc(c.events, func(e event) bool { return e.name == crashed }) {
		return
	}
	c.events = slices.Insert(c.events, 0,
		event{c.CrashedAt, crashed, attributes{}.text("dpl.evidence", c.Evidence)})
}

// failure returns why c failed, or "".
func (c *call) failure() string {
	if c.crashed {
		return strings.TrimSuffix("crashed: "+c.Evidence, ": ")
	}
	return c.Reason
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
