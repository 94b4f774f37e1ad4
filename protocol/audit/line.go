package audit

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Entry is what a line says about an edit (spec §53).
type Entry struct {
	At       time.Time
	Verb     string
	By       By    // of a line that was read: see Authors
	Revision int64 // of the object after the edit
	Patch    []Change
	Note     *Note // nil: none
}

// The verbs of lines that no verb of an object makes. The first four have a whole object as their
// patch, from which a replay can begin.
const (
	Began     = "began"     // the record begins with an object that exists
	Restored  = "restored"  // the file was set back to an older state
	Unaudited = "unaudited" // the object was edited without a line
	Sealed    = "sealed"    // the log begins a new part
	Noted     = "note"      // the line has a note, and nothing else changed
	Started   = "on"        // the record was switched on
	Ended     = "off"       // it was switched off
)

// A Note names a text that belongs to the object, such as a prompt (spec §56).
type Note struct {
	Kind string
	Size int64
	Hash string
	Task string // "": of no task
}

// A Line is a line of a log, as it was read.
type Line struct {
	Seq  int64
	Prev string // the hash of the line before; "": it is the first one
	Entry
	Text string
	Hash string
}

// line returns the text of the line of e, which refers to an author of earlier lines, if that is
// there.
func (e Entry) line(seq int64, prev string, earlier author) string {
	l := &Line{Seq: seq, Prev: prev, Entry: e}
	return wire.Line(func(w *wire.Writer) { l.members(w.Codec(), earlier) })
}

// lineDepth is how much deeper than a file a line may be nested: its patch has parts of a file.
const lineDepth = 3

// Parse returns the line in text, which has no newline. Its errors are those of wire.Decode. The
// text and the hash are also there if it fails.
func Parse(text string) (Line, error) {
	l, err := wire.Decode(text, -lineDepth, readLine)
	if err == nil && l.Seq < 1 {
		err = errors.New("it has no number")
	}
	l.Text, l.Hash = text, wire.Hash(text)
	return l, err
}

func readLine(r *wire.Reader) (l Line) {
	l.record(r.Codec())
	r.Require("seq", "at", "verb", "revision", "patch")
	return l
}

// record reads l.
func (l *Line) record(c *wire.Codec) {
	c.Known(func(c *wire.Codec) { l.members(c, author{}) })
}

// members are those of a line, of which the author refers to that of an earlier line.
func (l *Line) members(c *wire.Codec, earlier author) {
	c.Revision("seq", &l.Seq, wire.Always)
	c.Text("prev", &l.Prev, (*wire.Reader).Hash, wire.IfSet)
	c.Time("at", &l.At, wire.Always)
	c.String("verb", &l.Verb, wire.Always)
	c.Object("by", func(c *wire.Codec) { l.By.record(c, earlier) }, wire.Always)
	c.Revision("revision", &l.Revision, wire.Always)
	wire.Pointer(c, "note", &l.Note, (*Note).record)
	wire.Objects(c, "patch", &l.Patch, (*Change).record, wire.Always)
}

func (n *Note) record(c *wire.Codec) { c.Known(n.members, "kind", "size", "sha256") }

func (n *Note) members(c *wire.Codec) {
	c.String("kind", &n.Kind, wire.Always)
	c.Int64("size", &n.Size, 0, wire.Always)
	c.Text("sha256", &n.Hash, (*wire.Reader).Hash, wire.Always)
	c.String("task", &n.Task, wire.IfSet)
}

// record refuses a change that says nothing of what was there, or of what is: it would fit any
// object.
func (c *Change) record(w *wire.Codec) {
	if !w.Known(c.members, "path") {
		return
	}
	before, after, was := c.Before != "", c.After != "", c.Was != ""
	switch {
	case c.Path == "" && (before || was || !isObject(c.After)):
		w.FailMember("after", "of the whole object there is only what it is, an object")
	case !before && !after && !was:
		w.FailMember("was", "it is absent, and so are before and after")
	case was && (before || after):
		w.FailMember("was", "it goes with neither before nor after")
	}
}

func (c *Change) members(w *wire.Codec) {
	w.String("path", &c.Path, wire.Always)
	w.Raw("before", &c.Before, (*wire.Reader).Value, wire.IfSet)
	w.Raw("after", &c.After, (*wire.Reader).Value, wire.IfSet)
	w.Text("was", &c.Was, (*wire.Reader).Hash, wire.IfSet)
}
