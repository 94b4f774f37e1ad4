package audit

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Chain is the end of the chain of one object, as the object's file has it (spec §52). The zero
// Chain has no line.
//
// Pending are the last lines, which may not be in the log, or not durable there: they are those
// with the numbers up to Seq.
type Chain struct {
	Seq      int64  // the number of the last line
	Head     string // its hash; "": there is none
	Revision int64  // of the object after it, or after a later edit that has no line
	Off      bool   // edits have no lines
	Inode    int64  // of the log; 0: not known
	Sealed   Sealing
	Pending  []string
	Unknown  []wire.Member
	nested   *wire.Nested
}

// A Sealing is the last sealed part of a log (spec §56). The zero one is none, or is not known.
type Sealing struct {
	Part int64
	Head string // the hash of its last line
}

// MostPending is how many lines may be pending. Beyond that an edit is refused, because the log
// cannot be written.
const MostPending = 64

// ErrPending means that the log of an object could not be written for so long that the object's
// file has no room for another line.
var ErrPending = errors.New("too many lines wait for the audit log")

// On reports whether edits of the object have lines.
func (c Chain) On() bool { return c.Seq > 0 && !c.Off }

// First returns the number of the first pending line, or the one after the last line.
func (c Chain) First() int64 { return c.Seq + 1 - int64(len(c.Pending)) }

// Append returns c with a line for e, which is pending. c keeps its slice of pending lines.
func (c Chain) Append(e Entry) Chain {
	c.Seq++
	var earlier author
	if e.Verb != Sealed && e.By != (By{}) {
		earlier = e.By.like(c.Pending)
	}
	line := e.line(c.Seq, c.Head, earlier)
	c.Head, c.Revision = wire.Hash(line), e.Revision
	c.Pending = append(c.Pending[:len(c.Pending):len(c.Pending)], line)
	return c
}

// Write writes c as the member audit, or nothing if c is zero.
func (c Chain) Write(w *wire.Writer) {
	if c.Seq == 0 && len(c.Unknown) == 0 {
		return
	}
	w.Object("audit", func(w *wire.Writer) {
		w.Int("seq", c.Seq)
		w.OptString("head", c.Head)
		w.Int("revision", c.Revision)
		w.OptBool("off", c.Off)
		w.OptInt("inode", c.Inode)
		if s := c.Sealed; s.Part > 0 {
			w.Object("sealed", func(w *wire.Writer) {
				w.Int("part", s.Part)
				w.String("head", s.Head)
				w.Unknown(c.nested.Of("sealed"))
			})
		}
		if len(c.Pending) > 0 {
			w.Strings("pending", c.Pending)
		}
		w.Unknown(c.Unknown)
	})
}

// Read reads a chain. It refuses one without a head, and more pending lines than it has lines.
func Read(r *wire.Reader) (c Chain) {
	r.Object(func(name string) {
		switch name {
		case "seq":
			c.Seq = r.Revision()
		case "head":
			c.Head = r.Hash()
		case "revision":
			c.Revision = r.Revision()
		case "off":
			c.Off = r.Bool()
		case "inode":
			c.Inode = r.Int(0)
		case "sealed":
			c.Sealed = c.readSealing(r)
		case "pending":
			r.Array(func() { c.Pending = append(c.Pending, r.String()) })
		default:
			r.Unknown(&c.Unknown, name)
		}
	})

	r.Require("seq", "revision")
	if c.Seq > 0 {
		r.Require("head")
	}
	if int64(len(c.Pending)) > c.Seq {
		r.FailMember(r.Offset(), "pending", wire.ErrCorrupt, "it has more than %d lines", c.Seq)
	}
	return c
}

func (c *Chain) readSealing(r *wire.Reader) (s Sealing) {
	r.Object(func(name string) {
		switch name {
		case "part":
			s.Part = r.Int(1)
		case "head":
			s.Head = r.Hash()
		default:
			r.Nested(&c.nested, "sealed", name)
		}
	})
	r.Require("part", "head")
	return s
}
