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

// Member is the member audit, which is not written if a is zero. It refuses one without a head, and
// more pending lines than it has lines.
func (a *Chain) Member(c *wire.Codec) bool {
	return c.Object("audit", a.Record, wire.If(a.Seq != 0 || len(a.Unknown) != 0))
}

// Record reads or writes a.
func (a *Chain) Record(c *wire.Codec) {
	if !c.Record(&a.Unknown, a.members, "seq", "revision") {
		return
	}

	if a.Seq > 0 {
		c.Require("head")
	}
	if int64(len(a.Pending)) > a.Seq {
		c.FailMember("pending", "it has more than %d lines", a.Seq)
	}
}

func (a *Chain) members(c *wire.Codec) {
	c.Revision("seq", &a.Seq, wire.Always)
	c.Text("head", &a.Head, (*wire.Reader).Hash, wire.IfSet)
	c.Revision("revision", &a.Revision, wire.Always)
	c.Bool("off", &a.Off, wire.IfSet)
	c.Int64("inode", &a.Inode, 0, wire.IfSet)
	c.Object("sealed", func(c *wire.Codec) {
		c.Nested(&a.nested, "sealed", a.Sealed.members, "part", "head")
	}, wire.If(a.Sealed.Part > 0))
	c.Strings("pending", &a.Pending, wire.IfSet)
}

func (s *Sealing) members(c *wire.Codec) {
	c.Int64("part", &s.Part, 1, wire.Always)
	c.Text("head", &s.Head, (*wire.Reader).Hash, wire.Always)
}
