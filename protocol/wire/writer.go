package wire

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Writer writes indented JSON. The methods that begin with Opt write nothing for a zero value.
type Writer struct {
	buf     []byte
	out     io.Writer // nil: all of it stays in buf
	sampler Sampler   // out, if it is one
	sampled int       // how much of buf it has been given, or needs no sample of
	written int64
	err     error // an error of out

	compact bool // what is written has no white space: see Line
	depth   int
	begun   bool // an element or member of the innermost object or array has been written
	row     bool // what is written stays on one line: see Rows
	laid    int  // the amount of unknown members' text so far

	timeText []byte // the times of a frame are often equal
	lastTime time.Time
	codec    Codec
}

// A Sampler is an io.Writer that is also given a sample of what is written, which shows whether a
// reader would accept it. That is all of it, except for what is copied from a text that was read:
// the last of adjacent elements of an array stands for all of them, and a member has no content.
type Sampler interface {
	io.Writer
	Sample(text []byte)
}

// Write writes an object to out, indented by two spaces, with a newline at the end. write writes
// its members. The errors are those of out.
func Write(out io.Writer, write func(w *Writer)) (int64, error) {
	w := &Writer{buf: make([]byte, 0, muchText), out: out}
	w.sampler, _ = out.(Sampler)
	w.document(write)
	return w.written, w.err
}

func (w *Writer) document(write func(w *Writer)) {
	w.object(write)
	w.buf = append(w.buf, '\n')
	w.flush()
}

// Text returns what Write writes.
func Text(write func(w *Writer)) string {
	w := &Writer{buf: make([]byte, 0, 1024)}
	w.document(write)
	return string(w.buf)
}

// Line returns what Write writes, without any white space.
func Line(write func(w *Writer)) string {
	w := &Writer{buf: make([]byte, 0, 1024), compact: true}
	w.object(write)
	return string(w.buf)
}

// flush writes buf to out.
func (w *Writer) flush() {
	if w.out == nil {
		return
	}
	w.sample("")
	if w.err == nil {
		n, err := w.out.Write(w.buf)
		w.written, w.err = w.written+int64(n), err
	}
	w.buf, w.sampled = w.buf[:0], 0
}

func (w *Writer) open(bracket byte) {
	w.buf = append(w.buf, bracket)
	w.depth++
	w.begun = false
}

func (w *Writer) close(bracket byte) {
	w.depth--
	if w.begun && !w.row && !w.compact {
		w.line()
	}
	w.buf = append(w.buf, bracket)
	w.begun = true
}

// lineBreak begins a line at any depth of a file; the depth is at most 6.
const lineBreak = "\n            "

// indent returns what begins a line at this depth.
func (w *Writer) indent() string { return lineBreak[:1+2*w.depth] }

func (w *Writer) line() { w.buf = append(w.buf, w.indent()...) }

// element begins an element or member.
func (w *Writer) element() {
	switch {
	case w.compact && w.begun:
		w.buf = append(w.buf, ',')
	case w.compact:
	case !w.row && w.begun:
		w.buf = append(w.buf, ',')
		w.line()
	case !w.row:
		w.line()
	case w.begun:
		w.buf = append(w.buf, ", "...)
	}
	w.begun = true
}

func (w *Writer) object(write func(w *Writer)) {
	w.open('{')
	write(w)
	w.close('}')
}

func (w *Writer) name(name string) {
	w.element()
	w.quote(name)
	w.buf = append(w.buf, ':')
	if !w.compact {
		w.buf = append(w.buf, ' ')
	}
}

func (w *Writer) quote(s string) { w.buf = AppendQuote(w.buf, s) }

// Object writes an object. write writes its members.
func (w *Writer) Object(name string, write func(w *Writer)) {
	w.name(name)
	w.object(write)
}

// Array writes an array of n elements. element writes the value of each.
func (w *Writer) Array(name string, n int, element func(i int)) {
	w.name(name)
	w.open('[')
	for i := range n {
		w.element()
		element(i)
	}
	w.close(']')
}

// Strings writes an array of strings.
func (w *Writer) Strings(name string, all []string) {
	w.Array(name, len(all), func(i int) { w.quote(all[i]) })
}

// Words writes an array of words without characters to escape: integers as numbers, the others as
// strings.
func (w *Writer) Words(name string, all []string) {
	w.Array(name, len(all), func(i int) {
		if _, err := strconv.ParseUint(all[i], 10, 64); err == nil {
			w.buf = append(w.buf, all[i]...)
		} else {
			w.quote(all[i])
		}
	})
}

// String writes a string.
func (w *Writer) String(name, s string) {
	w.name(name)
	w.quote(s)
}

// Raw writes text, which is compact JSON.
func (w *Writer) Raw(name, text string) {
	w.name(name)
	w.buf = append(w.buf, text...)
}

// OptString writes a string, unless it is empty.
func (w *Writer) OptString(name, s string) {
	if s != "" {
		w.String(name, s)
	}
}

// Int writes an integer.
func (w *Writer) Int(name string, n int64) {
	w.name(name)
	w.number(n)
}

func (w *Writer) number(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

// OptInt writes an integer, unless it is 0.
func (w *Writer) OptInt(name string, n int64) {
	if n != 0 {
		w.Int(name, n)
	}
}

// Milliseconds writes a duration.
func (w *Writer) Milliseconds(name string, d time.Duration) { w.Int(name, d.Milliseconds()) }

// AllMilliseconds writes an array of durations.
func (w *Writer) AllMilliseconds(name string, all []time.Duration) {
	w.Array(name, len(all), func(i int) { w.number(all[i].Milliseconds()) })
}

// Bool writes true or false.
func (w *Writer) Bool(name string, b bool) {
	w.name(name)
	w.buf = strconv.AppendBool(w.buf, b)
}

// OptBool writes true if b is true, and otherwise nothing.
func (w *Writer) OptBool(name string, b bool) {
	if b {
		w.Bool(name, true)
	}
}

// Time writes a time.
func (w *Writer) Time(name string, t time.Time) {
	w.name(name)
	w.time(t)
}

func (w *Writer) time(t time.Time) {
	if len(w.timeText) == 0 || !t.Equal(w.lastTime) {
		w.lastTime = t
		w.timeText = Moment(t).AppendFormat(w.timeText[:0], `"`+timeLayout+`"`)
	}
	w.buf = append(w.buf, w.timeText...)
}

// Ints writes an array of numbers.
func (w *Writer) Ints(name string, all []int64) {
	w.Array(name, len(all), func(i int) { w.number(all[i]) })
}

// Times writes an array of times.
func (w *Writer) Times(name string, all []time.Time) {
	w.Array(name, len(all), func(i int) { w.time(all[i]) })
}

// OptTime writes a time, unless it is zero.
func (w *Writer) OptTime(name string, t time.Time) {
	if !t.IsZero() {
		w.Time(name, t)
	}
}

// mostLaid is how much text of unknown members is reformatted for people to read. Reformatting may
// make it MaxDepth times as long, so the rest stays unchanged. Text that was reformatted once does
// not change again.
const mostLaid = 64 << 10

// value appends a value of unknown members, usually indented to this depth. Numbers keep their
// text.
func (w *Writer) value(text string) {
	w.laid += len(text)
	onLine := w.row || w.compact
	if text[0] != '{' && text[0] != '[' || w.laid > mostLaid && !onLine {
		w.buf = append(w.buf, text...)
		return
	}

	// The Reader has checked the text, so neither of these can fail.
	v := jsontext.Value(text)
	if onLine {
		_ = v.Compact()
		w.buf = append(w.buf, v...)
		return
	}

	prefix := strings.Repeat("  ", w.depth)
	_ = v.Indent(jsontext.WithIndentPrefix(prefix), jsontext.WithIndent("  "))
	w.buf = append(w.buf, v...)
}
