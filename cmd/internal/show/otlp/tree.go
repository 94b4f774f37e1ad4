package otlp

import (
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/trace"
)

// A root is the span of an operation.
type root struct {
	context    trace.Context
	parent     string // the id of the span above it; "": none
	start, end time.Time
}

// sampled is the flag of a trace that somebody wants to see.
const sampled = 1

// hang gives each call its context and its parent, and returns the span of op above them (spec
// §59.5). There is at least one call, and all are in the order of their starts.
func hang(op protocol.Operation, all []call, now time.Time) root {
	first := all[0].StartTime
	r := root{start: first, end: now, context: trace.Context{
		TraceID: trace.TraceID(op.ID, first), SpanID: trace.OperationSpanID(op.ID, first),
		Flags: sampled,
	}}
	if op.State.Terminal() {
		r.end = latest(first, op.TerminalAt)
	}

	r.join(all[0].Traceparent)
	for i := range all {
		c := &all[i]
		caller := callerOf(all[:i], c.CallerID)
		above, inherited := r.context, all[0].Traceparent
		if caller != nil {
			above, inherited = caller.context, caller.Traceparent
		}
		if own, ok := trace.Parse(c.Traceparent); ok && c.Traceparent != inherited {
			above = own
		}

		c.parent = above.SpanID
		c.context = above.In(trace.SpanID(op.ID, c.CallID, c.StartTime))
	}

	return r
}

// join puts the operation into the trace of its first call, if that is in one.
func (r *root) join(traceparent string) {
	if c, ok := trace.Parse(traceparent); ok {
		r.parent = c.SpanID
		r.context = c.In(r.context.SpanID)
	}
}

// callerOf returns the last of earlier whose id is caller, or nil.
func callerOf(earlier []call, caller string) *call {
	for i := len(earlier) - 1; i >= 0 && caller != ""; i-- {
		if earlier[i].CallID == caller {
			return &earlier[i]
		}
	}
	return nil
}
