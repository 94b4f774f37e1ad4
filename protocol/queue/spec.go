package queue

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// Content is the text of a spec, without white space around it (spec §36.1). Equal specs are equal
// texts.
type Content string

// mostInline is the length of the longest spec that is in the entry of its task. A file of its own
// costs two fsyncs, and its hash in the entry is 71 bytes long.
const mostInline = 400

// withinEntry is how many objects and arrays are around a spec in the entry of its task. One that is
// too deep for that has a file of its own.
const withinEntry = 3

// Inline reports whether the entry of the task has c itself and not its hash.
func (c Content) Inline() bool {
	return len(c) <= mostInline && isInline(string(c)) &&
		wire.CheckDepth(string(c), withinEntry) == nil
}

// Hash returns the hash of the file that c would be: "sha256:" and 64 hexadecimal digits.
func (c Content) Hash() string {
	return wire.Hash(string(c) + "\n")
}

// stored returns what the entry of a task has of c.
func (c Content) stored() string {
	if c.Inline() {
		return string(c)
	}
	return c.Hash()
}

// isInline reports whether spec, of an entry, is a spec itself and not its hash.
func isInline(spec string) bool { return strings.HasPrefix(spec, "{") }

// Content returns the spec of t, if its entry has it. Otherwise a file has it, whose name has the
// hash.
func (t *Task) Content() (spec Content, hash string, inline bool) {
	if isInline(t.Spec) {
		return Content(t.Spec), "", true
	}
	return "", t.Spec, false
}

// SpecHash returns the hash of the spec of t.
func (t *Task) SpecHash() string {
	if isInline(t.Spec) {
		return Content(t.Spec).Hash()
	}
	return t.Spec
}

// readSpec reads the member spec of t.
func (t *Task) readSpec(r *wire.Reader) {
	if r.AtString() {
		t.Spec = r.Hash()
	} else {
		t.Spec = readObject(r)
	}
}

func (t *Task) writeSpec(w *wire.Writer) {
	if isInline(t.Spec) {
		w.Raw("spec", t.Spec)
	} else {
		w.String("spec", t.Spec)
	}
}

// readObject reads an object, and returns its text without white space between the tokens.
func readObject(r *wire.Reader) string {
	start := r.Offset()
	r.Object(func(string) { r.Value() })
	text := r.Since(start)
	if r.Failed() {
		return ""
	}
	if isCompact(text) { // as an edit has written it: it is not copied
		return text
	}

	compact := jsontext.Value(text)
	_ = compact.Compact() // the Reader has checked it
	return string(compact)
}

// isCompact reports whether there is no white space between the tokens of text, which is JSON.
func isCompact(text string) bool {
	for i, inString := 0, false; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++ // what it escapes ends no string
		case c <= ' ' && !inString:
			return false
		}
	}
	return true
}
