package protocol

import (
	"strings"
	"time"
)

// A large operation is decoded by every heartbeat of every participant, and nearly always it was written by Encode. So
// the stack of a text that is laid out as Encode does is read by the line here, in a third of the time. What is not exactly
// as Encode would have written it is left to the strict decoder: a frame, or the whole text. TestDecodeLaidOut and
// FuzzDecode hold the two against each other.

// decodeLaidOut returns the operation in text if it is laid out as Encode does.
func decodeLaidOut(text string) (Operation, bool) {
	const begin, end = "\n  \"stack\": [\n    {", "\n  ]"
	at := strings.Index(text, begin)
	if at < 0 {
		return Operation{}, false
	}
	start := at + len(begin) - 1 // of the first frame
	open := at + len(begin) - len("\n    {")
	src := &source{}
	stack := framesLaidOut(text, start, src)
	if !stack.ok || !strings.HasPrefix(text[stack.end:], end) {
		return Operation{}, false
	}
	// A newline occurs in no string, so the stack can be cut out of the text without reading it.
	rest := newDecoder(text[:open] + text[stack.end+len(end)-1:])
	rest.stackAt = open - 1
	op := rest.operation()
	rest.checkUnique(stack.frames)
	if rest.err != nil || !rest.stackFound || !rest.atEnd() {
		return Operation{}, false
	}
	*src = *op.source
	src.text = text
	op.Stack, op.source = stack.frames, src
	return op, true
}

// frames are some that follow each other in a text, up to the offset end.
type frames struct {
	frames []*Frame
	end    int
	ok     bool
}

// framesLaidOut reads the frames from start, where one begins, to the end of the last.
func framesLaidOut(text string, start int, src *source) (read frames) {
	const next = ",\n    "
	var slab []Frame
	line := lineReader{text: text}
	for {
		if len(slab) == cap(slab) {
			slab = make([]Frame, 0, min(64, 4+2*len(read.frames)))
		}
		slab = slab[:len(slab)+1]
		f := &slab[len(slab)-1]
		line.at, line.ok = start, true
		if line.frame(f); !line.ok {
			if line.at, line.ok = frameLaidOut(text, start, f); !line.ok {
				return frames{}
			}
		}
		f.cameFrom(src, start, line.at)
		read.frames = append(read.frames, f)
		if !strings.HasPrefix(text[line.at:], next) {
			read.end, read.ok = line.at, true
			return read
		}
		start = line.at + len(next)
	}
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
	d := newDecoder(text[start:end])
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
	if s == before && s != "" || !r.ok {
		return r.lastTime
	}
	t, err := ParseTime(s)
	r.ok = err == nil
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
	if r.has(",\n      \"process\": {\n        \"pid\": ") {
		r.process(&f.Process)
	}
	if r.has(",\n      \"beat\": {\n        \"bootId\": \"") {
		r.beat(&f.Beat)
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
