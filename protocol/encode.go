package protocol

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Encode returns the content of the operation's file (spec §1.3): members in the order of spec §3,
// indented by two spaces, with a newline at the end. Frames, supervisors and events that are
// unchanged since they were decoded keep their text.
func (op Operation) Encode() string {
	var all strings.Builder
	op.WriteTo(&all) // it never fails
	return all.String()
}

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (op Operation) WriteTo(out io.Writer) (n int64, err error) {
	w := &encoder{buf: make([]byte, 0, 4096), out: out, source: op.source}
	if w.source == nil {
		w.source = &source{}
	}
	w.operation(op)
	w.flush()
	return w.written, w.err
}

func (w *encoder) operation(op Operation) {
	src := w.source
	w.open('{')
	w.int("protocolVersion", int64(op.ProtocolVersion))
	w.string("operationId", op.ID)
	w.int("revision", op.Revision)
	w.string("state", string(op.State))
	w.time("lastHeartbeat", op.LastHeartbeat)
	w.bool("aborted", op.Aborted)
	w.milliseconds("heartbeatIntervalMs", op.HeartbeatInterval)
	w.milliseconds("stalenessThresholdMs", op.StalenessThreshold)
	if !op.TerminalAt.IsZero() {
		w.time("terminalAt", op.TerminalAt)
	}
	if !op.TerminalAt.IsZero() || op.TerminalHeartbeats != 0 {
		w.int("terminalHeartbeats", int64(op.TerminalHeartbeats))
	}

	w.name("stack")
	w.stack(op.Stack)
	w.name("supervisorHeartbeats")
	if !w.copied(src.supervisorsText, slices.EqualFunc(op.Supervisors, src.supervisors,
		sameSupervisor)) {
		w.open('{')
		for i := range op.Supervisors {
			w.name(op.Supervisors[i].ID)
			w.supervisor(&op.Supervisors[i])
		}
		w.close('}')
	}

	w.name("transitions")
	if !w.copied(src.transitionsText, sameStart(op.Transitions, src.transitions)) {
		w.array(len(op.Transitions), func(i int) { w.transition(&op.Transitions[i]) })
	}

	w.name("events")
	if !w.copied(src.eventsText, sameStart(op.Events, src.events)) {
		w.array(len(op.Events), func(i int) { w.event(&op.Events[i]) })
	}

	w.unknown(op.Unknown)
	w.close('}')
	w.buf = append(w.buf, '\n')
}

// sameStart reports whether a and b are the same slice. Verbs only ever append to a copy.
func sameStart[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// encoder appends indented JSON to buf. The encoder of an operation passes much of it on to out
// directly.
type encoder struct {
	buf     []byte
	out     io.Writer
	written int64
	err     error // an error of out

	source *source
	depth  int
	begun  bool // an element or member of the innermost object or array has been written
	laid   int  // the amount of unknown members' text so far

	timeText []byte // the times of a frame are often equal
	lastTime time.Time
}

// flush writes buf to out.
func (w *encoder) flush() {
	if w.err == nil {
		n, err := w.out.Write(w.buf)
		w.written, w.err = w.written+int64(n), err
	}
	w.buf = w.buf[:0]
}

func (w *encoder) open(bracket byte) {
	w.buf = append(w.buf, bracket)
	w.depth++
	w.begun = false
}

func (w *encoder) close(bracket byte) {
	w.depth--
	if w.begun {
		w.line()
	}
	w.buf = append(w.buf, bracket)
	w.begun = true
}

// lineBreak begins a line at any depth of a file; the depth is at most 6.
const lineBreak = "\n            "

func (w *encoder) line() { w.buf = append(w.buf, lineBreak[:1+2*w.depth]...) }

// element begins an element or member.
func (w *encoder) element() {
	if w.begun {
		w.buf = append(w.buf, ',')
	}
	w.line()
	w.begun = true
}

func (w *encoder) name(name string) {
	w.element()
	w.quote(name)
	w.buf = append(w.buf, ": "...)
}

func (w *encoder) quote(s string) { w.buf = wire.AppendQuote(w.buf, s) }

func (w *encoder) string(name, s string) {
	w.name(name)
	w.quote(s)
}

// text appends s unless it is empty.
func (w *encoder) text(name, s string) {
	if s != "" {
		w.string(name, s)
	}
}

func (w *encoder) int(name string, n int64) {
	w.name(name)
	w.number(n)
}

func (w *encoder) number(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

func (w *encoder) milliseconds(name string, d time.Duration) { w.int(name, d.Milliseconds()) }

func (w *encoder) bool(name string, b bool) {
	w.name(name)
	w.buf = strconv.AppendBool(w.buf, b)
}

func (w *encoder) time(name string, t time.Time) {
	w.name(name)
	if len(w.timeText) == 0 || !t.Equal(w.lastTime) {
		w.lastTime = t
		w.timeText = Moment(t).AppendFormat(w.timeText[:0], `"`+timeLayout+`"`)
	}
	w.buf = append(w.buf, w.timeText...)
}

func (w *encoder) array(n int, element func(i int)) {
	w.open('[')
	for i := range n {
		w.element()
		element(i)
	}
	w.close(']')
}

// copied appends text, the value as it was decoded, if it is unchanged and has this encoder's
// layout.
func (w *encoder) copied(text string, same bool) bool {
	if !same || !w.laidOut(text) {
		return false
	}
	w.copy(text)
	return true
}

// muchText is the length from which another system call to write a text costs less than copying it.
const muchText = 16 << 10

func (w *encoder) copy(text string) {
	if len(text) < muchText {
		w.buf = append(w.buf, text...)
		return
	}
	if w.flush(); w.err == nil {
		n, err := io.WriteString(w.out, text)
		w.written, w.err = w.written+int64(n), err
	}
}

// laidOut reports whether text ends like an object or array at this depth. A compact one, or one at
// another depth, does not.
func (w *encoder) laidOut(text string) bool {
	end := len(text) - 2 - 2*w.depth
	return end > 0 && text[end:len(text)-1] == lineBreak[:1+2*w.depth]
}

func (w *encoder) unknown(members []Member) {
	for _, m := range members {
		w.name(m.Name)
		w.value(m.Value)
	}
}

// mostLaid is how much text of unknown members is reformatted for people to read. Reformatting may
// make it maxDepth times as long, so the rest stays unchanged. Text that was reformatted once does
// not change again.
const mostLaid = 64 << 10

// value appends a value of unknown members, usually indented to this depth. Numbers keep their
// text.
func (w *encoder) value(text string) {
	w.laid += len(text)
	if text[0] != '{' && text[0] != '[' || w.laid > mostLaid {
		w.buf = append(w.buf, text...)
		return
	}

	v := jsontext.Value(text)
	prefix := strings.Repeat("  ", w.depth)

	// The decoder has checked the text, so this cannot fail.
	_ = v.Indent(jsontext.WithIndentPrefix(prefix), jsontext.WithIndent("  "))
	w.buf = append(w.buf, v...)
}
