// Package trace is how calls take part in distributed traces (spec §59): [Context] is the
// traceparent of W3C Trace Context, [SpanID] names the span of a call, and [Span] is what an
// operation keeps of a traced call that has ended. It imports package wire alone.
package trace
