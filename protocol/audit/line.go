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
	Unaudited = "unaudited" // a program that keeps no record has edited the object
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
	return wire.Line(func(w *wire.Writer) {
		w.Int("seq", seq)
		w.OptString("prev", prev)
		w.Time("at", e.At)
		w.String("verb", e.Verb)
		w.Object("by", func(w *wire.Writer) { e.By.write(w, earlier) })
		w.Int("revision", e.Revision)
		if n := e.Note; n != nil {
			w.Object("note", n.write)
		}
		wire.Objects(w, "patch", e.Patch, (*Change).write)
	})
}

func (n *Note) write(w *wire.Writer) {
	w.String("kind", n.Kind)
	w.Int("size", n.Size)
	w.String("sha256", n.Hash)
	w.OptString("task", n.Task)
}

func (c *Change) write(w *wire.Writer) {
	w.String("path", c.Path)
	if c.Before != "" {
		w.Raw("before", c.Before)
	}
	if c.After != "" {
		w.Raw("after", c.After)
	}
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
	readMembers(r, &l)
	r.Require("seq", "at", "verb", "revision", "patch")
	return l
}

func readMembers(r *wire.Reader, l *Line) {
	r.Object(func(name string) {
		switch name {
		case "seq":
			l.Seq = r.Revision()
		case "prev":
			l.Prev = r.Hash()
		case "at":
			l.At = r.Time()
		case "verb":
			l.Verb = r.String()
		case "by":
			l.By = readBy(r)
		case "revision":
			l.Revision = r.Revision()
		case "note":
			l.Note = readNote(r)
		case "patch":
			r.Array(func() { l.Patch = append(l.Patch, readChange(r)) })
		default:
			r.Value()
		}
	})
}

func readNote(r *wire.Reader) *Note {
	n := &Note{}
	r.Object(func(name string) {
		switch name {
		case "kind":
			n.Kind = r.String()
		case "size":
			n.Size = r.Int(0)
		case "sha256":
			n.Hash = r.Hash()
		case "task":
			n.Task = r.String()
		default:
			r.Value()
		}
	})
	r.Require("kind", "size", "sha256")
	return n
}

func readChange(r *wire.Reader) (c Change) {
	r.Object(func(name string) {
		switch name {
		case "path":
			c.Path = r.String()
		case "before":
			c.Before = r.Value()
		case "after":
			c.After = r.Value()
		default:
			r.Value()
		}
	})
	r.Require("path")
	return c
}
