package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the greatest depth of nested objects and arrays in a file (spec §1.3).
const MaxDepth = 64

// A Reader reads a JSON text in one pass. Object and Array call a function at the beginning of each
// value, which must read that value with one of the other methods.
//
// After the first failure nothing is left to read: every method returns its zero value, and no
// function is called again. Err returns the first failure.
type Reader struct {
	text   string
	within int
	at     int  // the next byte to read: the first one of a value, where one is expected
	depth  int  // the number of open objects and arrays
	strict bool // whether unknown members are refused

	layout  *layout  // of the objects that begin here
	ended   []member // of the object that has ended last
	failure *failure

	lastTimeText string // the times of a frame are often equal
	lastTime     time.Time
	unquoted     []byte // the last string with an escape: room for the next
	codec        Codec
}

// A failure is the reason why a text is refused, as noticed by the reader.
type failure struct {
	cause  string
	is     error // the error for the caller
	syntax bool  // the text is not JSON
	at     int   // the offset after the refused token
	member string
}

// NewReader returns a reader of text, which is inside within objects and arrays of its file.
func NewReader(text string, within int) *Reader { return newReader(text, within, &layout{}) }

// newReader returns a reader that expects the layout known.
func newReader(text string, within int, known *layout) *Reader {
	r := &Reader{text: text, within: within, depth: within, layout: known}
	r.space()
	return r
}

// Text returns the whole text.
func (r *Reader) Text() string { return r.text }

// Failed reports whether something was refused.
func (r *Reader) Failed() bool { return r.failure != nil }

// Err returns the reason why the text is refused, or nil: that it is nested too deep, that it is
// not JSON, or the first failure.
func (r *Reader) Err() error {
	if r.failure == nil {
		return nil
	}
	if err := CheckDepth(r.text, r.within); err != nil {
		return err
	}
	if err := CheckSyntax(r.text); r.failure.syntax && err != nil {
		return err
	}
	return r.failure.in(r.text)
}

// Fail refuses the value, or the name of a member, that was read last.
func (r *Reader) Fail(is error, format string, args ...any) {
	r.failAt(r.at, "", is, format, args...)
}

// FailMember refuses the member of the object that begins, or ends, before the offset at.
func (r *Reader) FailMember(at int, member string, is error, format string, args ...any) {
	r.failAt(at, "/"+member, is, format, args...)
}

func (r *Reader) failAt(at int, member string, is error, format string, args ...any) {
	if r.failure == nil {
		cause := fmt.Sprintf(format, args...)
		r.failure = &failure{cause: cause, is: is, at: at, member: member}
	}
	r.at = len(r.text)
}

func (r *Reader) syntax() {
	if r.failure == nil {
		r.Fail(ErrCorrupt, "it is no JSON")
		r.failure.syntax = true
	}
}

// Offset returns the beginning of the next value, or the end of the last one.
func (r *Reader) Offset() int { return r.at }

// Since returns the text that was read since the offset start.
func (r *Reader) Since(start int) string { return r.text[min(start, r.at):r.at] }

// End refuses anything except white space.
func (r *Reader) End() {
	if r.space(); r.at < len(r.text) {
		r.syntax()
	}
}

// Object reads an object, and calls member with the name of each member.
func (r *Reader) Object(member func(name string)) { r.object(member, false) }

// Map reads an object like Object does. It is faster if its values are objects that look alike.
func (r *Reader) Map(member func(key string)) { r.object(member, true) }

func (r *Reader) object(member func(name string), alike bool) {
	if !r.open('{', "an object") {
		return
	}

	k := cursor{layout: r.layout, asBefore: true, alike: alike}
	for r.next(&k) {
		member(k.layout.members[k.i-1].name)
	}
}

// A cursor is a place between the members of an object.
type cursor struct {
	layout   *layout // of the object
	i        int     // how many members come before it
	asBefore bool    // these are as layout has described them before
	alike    bool    // the values are objects that look alike
}

// next goes to the value of the next member, and reports whether there is one.
func (r *Reader) next(k *cursor) bool {
	l := k.layout
	if k.asBefore && k.i < len(l.members) && r.literal(l.members[k.i].lead) {
		// Its names differ from each other, as they did before.
		r.space() // there may be more of it than before
	} else if !r.nextNew(k) {
		return false
	}

	at := k.i
	if k.alike {
		at = 0
	}
	r.layout = l.inner(at)
	k.i++
	return true
}

// nextNew is next for a member that the layout does not describe.
func (r *Reader) nextNew(k *cursor) bool {
	l, start := k.layout, r.at
	if !r.another('}', k.i == 0) {
		r.ended = l.members[:k.i]
		return false
	}

	if k.asBefore {
		k.asBefore = false
		l.keep(k.i)
	}

	name := r.name()
	if !l.add(r.text[start:r.at], name) {
		r.syntax()
	}
	return r.failure == nil
}

// Array reads an array, and calls element for each element.
func (r *Reader) Array(element func()) {
	if !r.open('[', "an array") {
		return
	}
	l := r.layout
	for first := true; r.another(']', first); first = false {
		r.layout = l
		element()
	}
}

func (r *Reader) open(bracket byte, want string) bool {
	if c := r.peek(); c != bracket {
		at := r.at + 1
		if c != '{' && c != '[' {
			r.skip()
			at = r.at
		}
		r.failAt(at, "", ErrCorrupt, "%s is expected", want)
		return false
	}

	if r.depth++; r.depth > MaxDepth {
		r.Fail(ErrCorrupt, "it is nested more than %d deep", MaxDepth)
		return false
	}

	r.at++
	return true
}

// another goes to the next member or element, and reports whether there is one.
func (r *Reader) another(bracket byte, first bool) bool {
	r.space()
	switch c := r.peek(); {
	case c == bracket:
		r.at++
		r.depth--
		return false
	case r.failure != nil:
		return false
	case first:
		return true
	case c != ',':
		r.syntax()
		return false
	}

	r.at++
	r.space()
	return true
}

// peek returns the next byte, or 0 at the end.
func (r *Reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *Reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// name reads the name of a member, and goes to its value.
func (r *Reader) name() string {
	if r.peek() != '"' {
		r.syntax()
		return ""
	}

	name := r.String()
	r.space()
	if r.peek() != ':' {
		r.syntax()
		return ""
	}

	r.at++
	r.space()
	return name
}

// String reads a string.
func (r *Reader) String() string {
	if r.peek() != '"' {
		r.skip()
		r.Fail(ErrCorrupt, "a string is expected")
		return ""
	}

	start := r.at
	end := plain(r.text, start+1)
	if end < len(r.text) && r.text[end] == '"' {
		r.at = end + 1
		return r.text[start+1 : end]
	}
	return r.unusual(end)
}

// unusual reads a string that is not plain from the index i on.
func (r *Reader) unusual(i int) string {
	escaped := false
	for ; i < len(r.text) && r.text[i] >= ' '; i = plain(r.text, i+1) {
		if r.text[i] == '\\' {
			escaped = true
			i++
		} else if r.text[i] == '"' {
			break
		}
	}

	if i >= len(r.text) || r.text[i] != '"' {
		r.syntax()
		return ""
	}

	quoted := r.text[r.at : i+1]
	if !escaped && utf8.ValidString(quoted) {
		r.at = i + 1
		return quoted[1 : len(quoted)-1]
	}

	s, err := jsontext.AppendUnquote(slices.Grow(r.unquoted[:0], len(quoted)), quoted)
	if err != nil {
		r.syntax()
		return ""
	}

	r.at, r.unquoted = i+1, s

	return string(s)
}

// AtObject reports whether the next value is an object.
func (r *Reader) AtObject() bool { return r.peek() == '{' }

// AtString reports whether the next value is a string.
func (r *Reader) AtString() bool { return r.peek() == '"' }

// Value reads any value and returns its text.
func (r *Reader) Value() string {
	start := r.at
	r.skip()
	if r.failure != nil {
		return ""
	}
	return r.text[start:r.at]
}

// Strings reads any value. It calls each with all strings in it, and with the names of all members.
func (r *Reader) Strings(each func(text string, name bool)) {
	switch r.peek() {
	case '{':
		r.Object(func(name string) {
			each(name, true)
			r.Strings(each)
		})
	case '[':
		r.Array(func() { r.Strings(each) })
	case '"':
		if text := r.String(); !r.Failed() {
			each(text, false)
		}
	default:
		r.skip()
	}
}

// skip reads any value.
func (r *Reader) skip() {
	switch c := r.peek(); {
	case c == '{':
		r.Object(func(string) { r.skip() })
	case c == '[':
		r.Array(func() { r.skip() })
	case c == '"':
		_ = r.String()
	case c == '-' || isDigit(c):
		r.number()
	case !r.literal("true") && !r.literal("false") && !r.literal("null"):
		r.syntax()
	}
}

func (r *Reader) literal(word string) bool {
	if !strings.HasPrefix(r.text[r.at:], word) {
		return false
	}
	r.at += len(word)
	return true
}

// number reads a number.
func (r *Reader) number() {
	if r.peek() == '-' {
		r.at++
	}

	if r.peek() == '0' {
		r.at++
	} else {
		r.digits()
	}

	if r.peek() == '.' {
		r.at++
		r.digits()
	}

	if c := r.peek(); c == 'e' || c == 'E' {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		r.digits()
	}
}

// digits reads one digit or more.
func (r *Reader) digits() {
	start := r.at
	for isDigit(r.peek()) {
		r.at++
	}
	if r.at == start {
		r.syntax()
	}
}

// Int reads an integer of at least least, at most 2^63-1.
func (r *Reader) Int(least int64) int64 {
	start, n := r.at, int64(0)
	for r.at < min(len(r.text), start+18) && isDigit(r.text[r.at]) {
		n = 10*n + int64(r.text[r.at]-'0')
		r.at++
	}

	length, next := r.at-start, r.peek()
	if n >= least && (length == 1 || length > 1 && r.text[start] != '0') &&
		!isDigit(next) && next != '.' && next != 'e' && next != 'E' {
		return n
	}

	r.at = start
	text := r.Value()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || text == "-0" {
		r.Fail(ErrCorrupt, "an integer of at least %d is expected, not %.20s", least, text)
		return 0
	}

	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Bool reads true or false.
func (r *Reader) Bool() bool {
	switch {
	case r.literal("true"):
		return true
	case !r.literal("false"):
		r.skip()
		r.Fail(ErrCorrupt, "true or false is expected")
	}
	return false
}

// Null reads null if that comes next, and reports whether it did.
func (r *Reader) Null() bool { return r.literal("null") }
