package protocol

import (
	"math"
	"slices"
	"strings"
	"time"
)

// An operation is decoded by every heartbeat of every participant, and nearly always it was written by Encode. So a text that is
// laid out as Encode does is read by the line here, in a third of the time. What is not exactly as Encode would have written it is
// left to the strict decoder: a frame, what is rare, or the whole text. TestDecodeLaidOut and FuzzDecode hold the two against each
// other.

// decodeLaidOut returns the operation in text if it is laid out as Encode does.
func decodeLaidOut(text string) (Operation, bool) {
	r := &lineReader{text: text, ok: len(text) <= math.MaxInt32}
	op := r.operation()
	if !r.ok || r.at != len(text) {
		return Operation{}, false
	}
	var d decoder
	d.checkUnique(op.Stack)
	return op, d.err == nil
}

func (r *lineReader) operation() Operation {
	op := Create("", 0, 0)
	src := &source{text: r.text}
	op.source = src
	r.head(&op)
	r.must(",\n  \"stack\": ")
	op.Stack = r.stack(src)
	r.must(",\n  \"supervisorHeartbeats\": ")
	src.supervisorsText = r.strictly("{", "}", func(d *decoder) { op.Supervisors = d.supervisors() })
	r.must(",\n  \"transitions\": ")
	src.transitionsText = r.strictly("[", "]", func(d *decoder) { op.Transitions = d.transitions() })
	r.must(",\n  \"events\": ")
	start := r.at
	r.array(func() {
		if op.Events == nil {
			op.Events = make([]Event, 0, strings.Count(r.text[r.at:], "\n    }"))
		}
		op.Events = append(op.Events, Event{})
		r.event(&op.Events[len(op.Events)-1])
	})
	src.eventsText = r.text[start:r.at]
	r.must("\n}\n")
	src.supervisors, src.transitions, src.events = op.Supervisors, op.Transitions, op.Events
	return op
}

// head reads what comes before the stack.
func (r *lineReader) head(op *Operation) {
	r.must("{\n  \"protocolVersion\": ")
	op.ProtocolVersion = int(r.int())
	r.must(",\n  \"operationId\": \"")
	op.ID = r.id()
	r.must(",\n  \"revision\": ")
	op.Revision = r.int()
	r.must(",\n  \"state\": \"")
	op.State = State(r.string())
	r.must(",\n  \"lastHeartbeat\": \"")
	op.LastHeartbeat = r.time()
	r.must(",\n  \"aborted\": ")
	if op.Aborted = r.has("true"); !op.Aborted {
		r.must("false")
	}
	r.must(",\n  \"heartbeatIntervalMs\": ")
	op.HeartbeatInterval = r.milliseconds()
	r.must(",\n  \"stalenessThresholdMs\": ")
	op.StalenessThreshold = r.milliseconds()
	if r.has(",\n  \"terminalAt\": \"") {
		op.TerminalAt = r.time()
	}
	if r.has(",\n  \"terminalHeartbeats\": ") {
		op.TerminalHeartbeats = int(r.int())
	}
	r.ok = r.ok && op.ProtocolVersion == Version && op.State.valid()
}

// milliseconds reads a duration of at least one.
func (r *lineReader) milliseconds() time.Duration {
	n := r.int()
	r.ok = r.ok && 0 < n && n <= int64(math.MaxInt64/time.Millisecond)
	return time.Duration(n) * time.Millisecond
}

// array reads an array of the operation, and calls element where one begins, which moves the reader to its end.
func (r *lineReader) array(element func()) {
	if r.has("[]") {
		return
	}
	r.must("[\n    ")
	for more := r.ok; more; more = r.has(",\n    ") {
		element()
	}
	r.must("\n  ]")
}

// strictly has the strict decoder read a value of the operation, between brackets, and returns its text. A newline occurs in no
// string, so the end can be found without reading the rest.
func (r *lineReader) strictly(open, close string, read func(*decoder)) string {
	start := r.at
	if r.has(open + close) {
		return open + close
	}
	r.must(open)
	end := "\n  " + close
	length := strings.Index(r.text[r.at:], end)
	if r.ok = r.ok && length >= 0; !r.ok {
		return ""
	}
	r.at += length + len(end)
	d := newDecoder(r.text[start:r.at], 1)
	read(d)
	r.ok = d.err == nil && d.atEnd()
	return d.text
}

// stack reads the stack.
func (r *lineReader) stack(src *source) (frames []*Frame) {
	var slab []Frame
	r.array(func() {
		if len(slab) == cap(slab) {
			slab = make([]Frame, 0, min(64, 4+2*len(frames)))
			frames = slices.Grow(frames, cap(slab))
		}
		slab = slab[:len(slab)+1]
		f := &slab[len(slab)-1]
		start := r.at
		if r.frame(f); !r.ok {
			r.at, r.ok = frameLaidOut(r.text, start, f)
		}
		f.cameFrom(src, start, r.at)
		frames = append(frames, f)
	})
	return frames
}

// frameLaidOut reads the frame at start, which has other members or another order than a lineReader knows.
func frameLaidOut(text string, start int, f *Frame) (end int, ok bool) {
	const last = "\n    }"
	length := strings.Index(text[start:], last)
	if length < 0 {
		return 0, false
	}
	end = start + length + len(last)
	*f = Frame{}
	d := newDecoder(text[start:end], 2)
	d.frame(f)
	return end, d.err == nil && d.atEnd()
}

// lineReader reads text that Encode has written. ok becomes false at the first byte that it did not expect.
type lineReader struct {
	text string
	at   int
	ok   bool

	timeText, boot, host string // the last that was read
	lastTime             time.Time
}

// has skips s if it comes next.
func (r *lineReader) has(s string) bool {
	if !r.ok || !strings.HasPrefix(r.text[r.at:], s) {
		return false
	}
	r.at += len(s)
	return true
}

func (r *lineReader) must(s string) { r.ok = r.has(s) }

// string reads the rest of a string without escapes, and its closing quote.
func (r *lineReader) string() string {
	start := r.at
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return r.text[start:i]
		case c < ' ' || c >= 0x7f || c == '\\':
			r.ok = false
			return ""
		}
	}
	r.ok = false
	return ""
}

func (r *lineReader) id() string {
	s := r.string()
	r.ok = r.ok && CheckID(s) == nil
	return s
}

// again is string where the last such string is likely to come again: it is compared before it is looked at.
func (r *lineReader) again(last *string) string {
	if n := len(*last); n > 0 && len(r.text)-r.at > n && r.text[r.at:r.at+n] == *last && r.text[r.at+n] == '"' {
		r.at += n + 1
	} else {
		*last = r.string()
	}
	return *last
}

func (r *lineReader) time() time.Time {
	before := r.timeText
	s := r.again(&r.timeText)
	if r.ok && s == before && s != "" {
		return r.lastTime
	}
	t, err := ParseTime(s)
	if r.ok = r.ok && err == nil; !r.ok {
		r.timeText = "" // it may not be a time at all, and lastTime is not its value
	}
	r.lastTime = t
	return t
}

func (r *lineReader) int() int64 {
	start := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	digits := r.text[start:r.at]
	r.ok = r.ok && 0 < len(digits) && len(digits) <= 18 && (digits[0] != '0' || len(digits) == 1)
	return int64(number(digits))
}

// frame reads a frame with any of the members that a live one has, except for resources.
func (r *lineReader) frame(f *Frame) {
	f.State, f.FailOnCrash = FrameActive, true
	r.must("{\n      \"participantId\": \"")
	f.ParticipantID = r.id()
	r.must(",\n      \"callId\": \"")
	f.CallID = r.id()
	if r.has(",\n      \"callerId\": \"") {
		f.CallerID = r.id()
	}
	r.must(",\n      \"pid\": ")
	f.PID = int(r.int())
	r.must(",\n      \"startTime\": \"")
	f.StartTime = r.time()
	r.must(",\n      \"lastHeartbeat\": \"")
	f.LastHeartbeat = r.time()
	r.must(",\n      \"state\": \"")
	f.State = FrameState(r.string())
	r.ok = r.ok && f.State.valid()
	if r.has(",\n      \"supervisorId\": \"") {
		f.SupervisorID = r.id()
	}
	if r.has(",\n      \"supervisorHandle\": \"") {
		f.SupervisorHandle = r.string()
	}
	if r.has(",\n      \"description\": \"") {
		f.Description = r.string()
	}
	if r.has(",\n      \"failOnCrash\": false") {
		f.FailOnCrash = false
	}
	f.Heartbeats = r.has(",\n      \"heartbeats\": true")
	if r.has(",\n      \"process\": {\n        \"pid\": ") {
		r.process(&f.Process)
	}
	if r.has(",\n      \"beat\": {\n        \"bootId\": \"") {
		r.beat(&f.Beat)
	}
	r.must("\n    }")
}

// event reads an event without resources.
func (r *lineReader) event(e *Event) {
	r.must("{\n      \"revision\": ")
	e.Revision = r.int()
	r.must(",\n      \"at\": \"")
	e.At = r.time()
	r.must(",\n      \"type\": \"")
	e.Type = EventType(r.string())
	if r.has(",\n      \"callId\": \"") {
		e.CallID = r.id()
	}
	if r.has(",\n      \"callerId\": \"") {
		e.CallerID = r.id()
	}
	if r.has(",\n      \"supervisorId\": \"") {
		e.SupervisorID = r.id()
	}
	for _, member := range []struct {
		name  string
		value *string
	}{
		{",\n      \"handle\": \"", &e.Handle}, {",\n      \"from\": \"", &e.From}, {",\n      \"to\": \"", &e.To},
		{",\n      \"by\": \"", &e.By}, {",\n      \"reason\": \"", &e.Reason},
	} {
		if r.has(member.name) {
			*member.value = r.string()
		}
	}
	r.must("\n    }")
}

func (r *lineReader) process(p *Process) {
	p.PID = int(r.int())
	r.must(",\n        \"hostId\": \"")
	p.HostID = r.again(&r.host)
	r.must(",\n        \"bootId\": \"")
	p.BootID = r.again(&r.boot)
	r.must(",\n        \"pidNamespace\": \"")
	p.PIDNamespace = r.string()
	r.must(",\n        \"startTicks\": ")
	p.StartTicks = r.int()
	r.must("\n      }")
}

func (r *lineReader) beat(b *Beat) {
	b.BootID = r.again(&r.boot)
	r.must(",\n        \"monotonicMs\": ")
	b.MonotonicMs = r.int()
	r.must(",\n        \"at\": \"")
	b.At = r.time()
	r.must("\n      }")
}
