package trace

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Lengths of the parts of a traceparent, in hexadecimal digits.
const (
	traceIDLength = 32
	spanIDLength  = 16
)

// A Context is a position in a trace: what a traceparent says (spec §59.1). Parse returns one.
type Context struct {
	TraceID string // 32 hexadecimal digits in lower case, not all of them 0
	SpanID  string // 16 of them: the span on whose behalf something is done
	Flags   byte   // 1: sampled, 2: the trace id is random
}

// knownFlags are those of W3C Trace Context. The others must be 0 in what is passed on.
const knownFlags = 3

// Parse returns the context in text, the value of a traceparent. It reports false if the standard
// says to ignore it: it is malformed, or names no trace or no span. Of a later version it returns
// what this one knows.
func Parse(text string) (c Context, ok bool) {
	const length = 2 + 1 + traceIDLength + 1 + spanIDLength + 1 + 2
	if len(text) < length || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return Context{}, false
	}

	version, flags := text[:2], text[53:length]
	c = Context{TraceID: text[3:35], SpanID: text[36:52]}
	if !isHex(version) || !isHex(c.TraceID) || !isHex(c.SpanID) || !isHex(flags) ||
		isZero(c.TraceID) || isZero(c.SpanID) {
		return Context{}, false
	}
	if version == "ff" || len(text) > length && (version == "00" || text[length] != '-') {
		return Context{}, false
	}

	c.Flags = digit(flags[1]) & knownFlags
	return c, true
}

// String returns the traceparent of c.
func (c Context) String() string {
	return "00-" + c.TraceID + "-" + c.SpanID + "-0" + string('0'+rune(c.Flags&knownFlags))
}

// Normal returns the traceparent in text as a file has it (spec §59.1), or "" if it is to be ignored.
func Normal(text string) string {
	c, ok := Parse(text)
	if !ok {
		return ""
	}
	return c.String()
}

// In returns the context of what is done on behalf of span, in the same trace.
func (c Context) In(span string) Context {
	c.SpanID = span
	return c
}

// SpanID returns the id of the span of a call that was pushed at start (spec §59.2). It is made
// from what the operation file has anyway, so that nobody has to keep it.
func SpanID(op, call string, start time.Time) string {
	return digits(op+"/"+call+"@"+wire.FormatTime(start), spanIDLength)
}

// OperationSpanID returns the id of the span of an operation whose oldest known call was pushed at
// start.
func OperationSpanID(op string, start time.Time) string {
	return digits(op+"@"+wire.FormatTime(start), spanIDLength)
}

// TraceID returns the id of the trace of an operation that nobody has put in another one. Its
// oldest known call was pushed at start.
func TraceID(op string, start time.Time) string {
	return digits(op+"@"+wire.FormatTime(start), traceIDLength)
}

// digits returns the first n digits of the hash of text.
func digits(text string, n int) string {
	return wire.Hash(text)[len(wire.HashPrefix):][:n]
}

func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == ""
}

func isZero(text string) bool { return strings.Trim(text, "0") == "" }

// digit returns the value of a hexadecimal digit in lower case.
func digit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
