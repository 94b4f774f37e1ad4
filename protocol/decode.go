package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// source is the text an operation was decoded from, so that Encode can copy what did not change.
type source struct {
	text        string
	supervisors []Supervisor
	transitions []Transition
	events      []Event
	// text of the whole value of these members; "" if absent
	supervisorsText, transitionsText, eventsText string
}

// Decode returns the operation in text, the content of an operation file (spec §1.3, §3). Missing members get their
// defaults. The error is a *DecodeError: ErrCorrupt, or ErrNewerVersion for a protocolVersion above Version.
func Decode(text string) (Operation, error) {
	if op, ok := decodeLaidOut(text); ok {
		return op, nil
	}
	return decode(text)
}

// newDecoder returns a decoder of text that lies in so many objects and arrays of its file.
func newDecoder(text string, within int) *decoder {
	dec := jsontext.NewDecoder(bytes.NewBufferString(text))
	return &decoder{dec: dec, text: text, within: within}
}

// decode is Decode for any text.
func decode(text string) (Operation, error) { return decodeWhole(text, 0, (*decoder).operation) }

// decodeWhole returns what read finds in text, with nothing after it. In a file of DPL it is to
// lie in so many more objects.
func decodeWhole[T any](text string, within int, read func(*decoder) T) (T, error) {
	var zero T
	if len(text) > math.MaxInt32 {
		return zero, &DecodeError{Cause: "the file is larger than 2 GiB", is: ErrCorrupt}
	}
	d := newDecoder(text, within)
	value := read(d)
	if d.err == nil && !d.atEnd() {
		d.err = errTrailing
	}
	if d.err != nil {
		return zero, refusal(text, within, d.err)
	}
	return value, nil
}

// refusal returns why text is refused, when err is the first cause that was found: first, that it
// is nested too deep or no JSON text, then its protocolVersion, because a newer one may have
// brought what is refused.
func refusal(text string, within int, err error) error {
	if within+depth(text) > maxDepth {
		return tooDeep(within)
	}
	d := newDecoder(text, within)
	if d.value(); d.err == nil && !d.atEnd() {
		d.err = errTrailing
	}
	switch {
	case d.err != nil && errors.Is(err, ErrNewerVersion):
		return d.err
	case d.err != nil:
		return err
	}
	d = newDecoder(text, within)
	d.object(func(name string) {
		if name == "protocolVersion" {
			d.version()
		} else {
			d.value()
		}
	})
	if errors.Is(d.err, ErrNewerVersion) {
		return d.err
	}
	return err
}

var errTrailing = &DecodeError{Cause: "data after the end of the object", is: ErrCorrupt}

// maxDepth is how many objects and arrays may lie in each other in a file (spec §1.3).
const maxDepth = 64

func tooDeep(within int) error {
	cause := fmt.Sprintf("it is nested more than %d deep", maxDepth-within)
	return &DecodeError{Cause: cause, is: ErrCorrupt}
}

// CheckDepth returns an error, ErrCorrupt, if text is nested deeper than a file may be (spec
// §1.3).
func CheckDepth(text string) error {
	if depth(text) > maxDepth {
		return tooDeep(0)
	}
	return nil
}

// depth returns how many objects and arrays lie in each other in text, which may be no JSON text.
func depth(text string) (deepest int) {
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}

// atEnd reports whether only white space is left.
func (d *decoder) atEnd() bool { return trimSpace(d.text[d.dec.InputOffset():]) == "" }

func trimSpace(s string) string { return strings.TrimLeft(s, " \t\r\n") }

// decoder reads one operation in one pass. After the first error every method returns zero values, and err holds it.
type decoder struct {
	dec    *jsontext.Decoder
	text   string
	within int // so many objects and arrays that text does not show
	err    error

	lastTimeText string // the times of a frame are often equal
	lastTime     time.Time
}

// fail records the refusal of the value or member name that was read last.
func (d *decoder) fail(format string, args ...any) {
	d.failWith(ErrCorrupt, format, args...)
}

func (d *decoder) failWith(is error, format string, args ...any) {
	if d.err == nil {
		d.err = &DecodeError{Path: string(d.dec.StackPointer()), Cause: fmt.Sprintf(format, args...), is: is}
	}
}

// syntax records an error of the JSON text itself.
func (d *decoder) syntax(err error) {
	if d.err != nil {
		return
	}
	refusal := &DecodeError{Cause: "the file ends too early", is: ErrCorrupt}
	if trimSpace(d.text) == "" {
		refusal.Cause = "the file is empty"
	} else if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		refusal.Path, refusal.Cause = string(e.JSONPointer), fmt.Sprintf("%v at byte %d", e.Err, e.ByteOffset)
	}
	d.err = refusal
}

// value reads the next value, or member name, and returns its text.
func (d *decoder) value() string {
	if d.err != nil {
		return ""
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		d.syntax(err)
		return ""
	}
	end := d.dec.InputOffset()
	text := d.text[end-int64(len(v)) : end]
	if kind := v.Kind(); kind == '{' || kind == '[' {
		if d.within+d.dec.StackDepth()+depth(text) > maxDepth {
			d.err = tooDeep(d.within)
		}
	}
	return text
}

// object reads an object and calls member for the name of each member, which must read its value.
func (d *decoder) object(member func(name string)) {
	if !d.open('{', "an object") {
		return
	}
	for d.err == nil && d.dec.PeekKind() != '}' {
		if name := d.unquote(d.value()); d.err == nil {
			member(name)
		}
	}
	d.close()
}

// array reads an array and calls element before each element, which it must read.
func (d *decoder) array(element func()) {
	if !d.open('[', "an array") {
		return
	}
	for d.err == nil && d.dec.PeekKind() != ']' {
		element()
	}
	d.close()
}

func (d *decoder) open(kind jsontext.Kind, want string) bool {
	if d.err != nil {
		return false
	}
	got := d.dec.PeekKind()
	if _, err := d.dec.ReadToken(); err != nil {
		d.syntax(err)
		return false
	}
	if got != kind {
		d.fail("%s is expected", want)
		return false
	}
	return true
}

func (d *decoder) close() {
	if d.err != nil {
		return
	}
	if _, err := d.dec.ReadToken(); err != nil {
		d.syntax(err)
	}
}

// unquote returns the string that the JSON string text stands for.
func (d *decoder) unquote(text string) string {
	if d.err != nil {
		return ""
	}
	if text[0] != '"' {
		d.fail("a string is expected")
		return ""
	}
	if strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	s, err := jsontext.AppendUnquote(nil, text)
	if err != nil {
		d.syntax(err)
	}
	return string(s)
}

func (d *decoder) string() string { return d.unquote(d.value()) }

// orNull reads a string, or null as "".
func (d *decoder) orNull() string {
	if text := d.value(); text != "null" {
		return d.unquote(text)
	}
	return ""
}

func (d *decoder) id() string {
	s := d.string()
	d.checkID(s)
	return s
}

func (d *decoder) idOrNull() string {
	text := d.value()
	if text == "null" {
		return ""
	}
	s := d.unquote(text)
	d.checkID(s)
	return s
}

func (d *decoder) checkID(s string) {
	if d.err == nil {
		if err := CheckID(s); err != nil {
			d.fail("%v", err)
		}
	}
}

func (d *decoder) time() time.Time { return d.parseTime(d.string()) }

func (d *decoder) timeOrNull() time.Time {
	text := d.value()
	if text == "null" {
		return time.Time{}
	}
	return d.parseTime(d.unquote(text))
}

func (d *decoder) parseTime(s string) time.Time {
	if d.err != nil || s == d.lastTimeText && s != "" {
		return d.lastTime
	}
	t, err := ParseTime(s)
	if err != nil {
		d.fail("%v", err)
	}
	d.lastTimeText, d.lastTime = s, t
	return t
}

// null reads null, if that is next.
func (d *decoder) null() bool {
	if d.err != nil || d.dec.PeekKind() != 'n' {
		return false
	}
	d.value()
	return true
}

// intOrNull reads an integer of at least 0, or null as 0.
func (d *decoder) intOrNull() int64 {
	if d.null() {
		return 0
	}
	return d.int(0)
}

// int reads an integer of at least least.
func (d *decoder) int(least int64) int64 {
	text := d.value()
	if d.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || text == "-0" {
		d.fail("an integer of at least %d is expected, not %.20s", least, text)
		return 0
	}
	return n
}

// milliseconds reads a duration of at least least milliseconds.
func (d *decoder) milliseconds(least int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	n := d.int(least)
	if n > most {
		d.fail("a duration of at most %d ms is expected", most)
	}
	return time.Duration(n) * time.Millisecond
}

func (d *decoder) bool() bool {
	switch text := d.value(); {
	case text == "true":
		return true
	case text != "false":
		d.fail("true or false is expected")
	}
	return false
}

func (d *decoder) unknown(members *[]Member, name string) {
	*members = append(*members, Member{Name: name, Value: d.value()})
}
