package queue

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Encode returns a as it is in the file of its queue, but in one line.
func (a *Ask) Encode() string { return wire.Line(wire.Record(a.record)) }

// Encode returns d as Ask.Encode does.
func (d *Decision) Encode() string { return wire.Line(wire.Record(d.record)) }

func (a *Ask) record(c *wire.Codec) {
	if c.Reads() {
		a.Kind = AskQuestion
	}
	if !c.Record(&a.Unknown, a.members, "kind", "nonce", "by", "askers") {
		return
	}
	if len(a.Askers) == 0 {
		c.FailMember("askers", "at least one is expected")
	}
}

func (a *Ask) members(c *wire.Codec) {
	wire.Word(c, "kind", &a.Kind, "kind", AskKind.Valid, wire.Always)
	c.String("text", &a.Text, wire.IfSet)
	c.Text("nonce", &a.Nonce, readNonce, wire.Always)
	c.ID("by", &a.By, wire.Always)
	c.String("user", &a.User, wire.IfSet)
	c.String("scope", &a.Scope, wire.IfSet)
	c.Bool("signed", &a.Signed, wire.IfSet)
	wire.Objects(c, "askers", &a.Askers, (*Asker).record, wire.Always)
}

func readNonce(r *wire.Reader) string {
	nonce := r.String()
	if len(nonce) != 32 || strings.Trim(nonce, "0123456789abcdef") != "" {
		r.Refuse("32 hex digits are expected")
	}
	return nonce
}

func (a *Asker) record(c *wire.Codec) {
	if c.Record(&a.Unknown, a.members, "at", "participant") {
		if a.Task != "" {
			c.Require("queue")
		}
	}
}

func (a *Asker) members(c *wire.Codec) {
	c.Time("at", &a.At, wire.Always)
	a.Beat.Member(c, "beat", &a.nested)
	c.ID("participant", &a.Participant, wire.Always)
	c.String("user", &a.User, wire.IfSet)
	c.Int("pid", &a.PID, 0, wire.IfSet)
	a.Process.Member(c, "process", &a.nested)
	a.Waiter.Member(c, "waiter", &a.nested)
	c.ID("operation", &a.Operation, wire.IfSet)
	c.ID("call", &a.Call, wire.IfSet)
	c.Text("queue", &a.Queue, readQueueID, wire.IfSet)
	c.Text("task", &a.Task, readTaskID, wire.IfSet)
	c.Revision("epoch", &a.Epoch, wire.IfSet)
	c.Object("origin", func(c *wire.Codec) { c.Nested(&a.nested, "origin", a.Origin.members) },
		wire.If(a.Origin != (Origin{}) || len(a.nested.Of("origin")) > 0))
}

func (o *Origin) members(c *wire.Codec) {
	o.Process.Member(c, "process", &o.nested)
	c.ID("operation", &o.Operation, wire.IfSet)
	c.Text("queue", &o.Queue, readQueueID, wire.IfSet)
	c.Text("task", &o.Task, readTaskID, wire.IfSet)
	c.ID("participant", &o.Participant, wire.IfSet)
}

func (d *Decision) record(c *wire.Codec) { c.Record(&d.Unknown, d.members, "kind", "askedBy") }

func (d *Decision) members(c *wire.Codec) {
	wire.Word(c, "kind", &d.Kind, "kind", AskKind.Valid, wire.Always)
	c.String("text", &d.Text, wire.IfSet)
	c.ID("askedBy", &d.AskedBy, wire.Always)
	c.ID("operation", &d.Operation, wire.IfSet)
	c.ID("by", &d.By, wire.IfSet)
	c.String("user", &d.User, wire.IfSet)
	c.String("answer", &d.Answer, wire.IfSet)
	c.Object("rule", func(c *wire.Codec) {
		c.Nested(&d.nested, "rule", d.Rule.members, "file", "hash", "number")
	}, wire.If(d.Rule.Number > 0))
	c.Bool("self", &d.Self, wire.IfSet)
	c.Bool("unchecked", &d.Unchecked, wire.IfSet)
	c.Text("shown", &d.Shown, (*wire.Reader).Hash, wire.IfSet)
	d.Signature.member(c, &d.nested)
}

func (r *Rule) members(c *wire.Codec) {
	c.String("file", &r.File, wire.Always)
	c.Text("hash", &r.Hash, (*wire.Reader).Hash, wire.Always)
	c.Int64("number", &r.Number, 1, wire.Always)
}
