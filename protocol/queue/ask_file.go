package queue

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

func readAsk(r *wire.Reader) *Ask {
	a := &Ask{Kind: AskQuestion}
	r.Object(func(name string) {
		switch name {
		case "kind":
			a.Kind = wire.ReadWord(r, "kind", AskKind.Valid)
		case "text":
			a.Text = r.String()
		case "nonce":
			a.Nonce = readNonce(r)
		case "by":
			a.By = r.ID()
		case "user":
			a.User = r.String()
		case "scope":
			a.Scope = r.String()
		case "signed":
			a.Signed = r.Bool()
		case "askers":
			a.Askers = wire.ReadAll(r, (*Asker).read)
		default:
			r.Unknown(&a.Unknown, name)
		}
	})

	r.Require("kind", "nonce", "by", "askers")
	if len(a.Askers) == 0 && !r.Failed() {
		r.FailMember(r.Offset(), "askers", wire.ErrCorrupt, "at least one is expected")
	}
	return a
}

func (a *Ask) write(w *wire.Writer) {
	w.String("kind", string(a.Kind))
	w.OptString("text", a.Text)
	w.String("nonce", a.Nonce)
	w.String("by", a.By)
	w.OptString("user", a.User)
	w.OptString("scope", a.Scope)
	w.OptBool("signed", a.Signed)
	wire.WriteAll(w, "askers", a.Askers, (*Asker).write)
	w.Unknown(a.Unknown)
}

func readNonce(r *wire.Reader) string {
	nonce := r.String()
	if len(nonce) != 32 || strings.Trim(nonce, "0123456789abcdef") != "" {
		r.Refuse("32 hex digits are expected")
	}
	return nonce
}

func (a *Asker) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "at":
			a.At = r.Time()
		case "beat":
			a.Beat = observe.ReadBeat(r, &a.nested, name)
		case "participant":
			a.Participant = r.ID()
		case "user":
			a.User = r.String()
		case "pid":
			a.PID = int(r.Int(0))
		case "process":
			a.Process = observe.ReadProcess(r, &a.nested, name)
		case "waiter":
			a.Waiter = observe.ReadProcess(r, &a.nested, name)
		case "operation":
			a.Operation = r.ID()
		case "call":
			a.Call = r.ID()
		case "queue":
			a.Queue = readQueueID(r)
		case "task":
			a.Task = readTaskID(r)
		case "epoch":
			a.Epoch = r.Revision()
		case "origin":
			a.Origin = a.readOrigin(r)
		default:
			r.Unknown(&a.Unknown, name)
		}
	})
	r.Require("at", "participant")
	if a.Task != "" {
		r.Require("queue")
	}
}

func (a *Asker) write(w *wire.Writer) {
	w.Time("at", a.At)
	a.Beat.Write(w, "beat", a.nested)
	w.String("participant", a.Participant)
	w.OptString("user", a.User)
	w.OptInt("pid", int64(a.PID))
	a.Process.Write(w, "process", a.nested)
	a.Waiter.Write(w, "waiter", a.nested)
	w.OptString("operation", a.Operation)
	w.OptString("call", a.Call)
	w.OptString("queue", a.Queue)
	w.OptString("task", a.Task)
	w.OptInt("epoch", a.Epoch)
	a.writeOrigin(w)
	w.Unknown(a.Unknown)
}

func (a *Asker) readOrigin(r *wire.Reader) (o Origin) {
	r.Object(func(name string) {
		switch name {
		case "process":
			o.Process = observe.ReadProcess(r, &o.nested, name)
		case "operation":
			o.Operation = r.ID()
		case "queue":
			o.Queue = readQueueID(r)
		case "task":
			o.Task = readTaskID(r)
		case "participant":
			o.Participant = r.ID()
		default:
			r.Nested(&a.nested, "origin", name)
		}
	})
	return o
}

func (a *Asker) writeOrigin(w *wire.Writer) {
	o, unknown := a.Origin, a.nested.Of("origin")
	if o == (Origin{}) && len(unknown) == 0 {
		return
	}
	w.Object("origin", func(w *wire.Writer) {
		o.Process.Write(w, "process", o.nested)
		w.OptString("operation", o.Operation)
		w.OptString("queue", o.Queue)
		w.OptString("task", o.Task)
		w.OptString("participant", o.Participant)
		w.Unknown(unknown)
	})
}

func readDecision(r *wire.Reader) *Decision {
	d := &Decision{}
	r.Object(func(name string) {
		switch name {
		case "kind":
			d.Kind = wire.ReadWord(r, "kind", AskKind.Valid)
		case "text":
			d.Text = r.String()
		case "askedBy":
			d.AskedBy = r.ID()
		case "operation":
			d.Operation = r.ID()
		case "by":
			d.By = r.ID()
		case "user":
			d.User = r.String()
		case "answer":
			d.Answer = r.String()
		case "rule":
			d.Rule = readRule(r, &d.nested)
		case "self":
			d.Self = r.Bool()
		case "unchecked":
			d.Unchecked = r.Bool()
		case "shown":
			d.Shown = r.Hash()
		case "signature":
			d.Signature = readSignature(r, &d.nested)
		default:
			r.Unknown(&d.Unknown, name)
		}
	})
	r.Require("kind", "askedBy")
	return d
}

func readRule(r *wire.Reader, nested **wire.Nested) (rule Rule) {
	r.Object(func(name string) {
		switch name {
		case "file":
			rule.File = r.String()
		case "hash":
			rule.Hash = r.Hash()
		case "number":
			rule.Number = r.Int(1)
		default:
			r.Nested(nested, "rule", name)
		}
	})
	r.Require("file", "hash", "number")
	return rule
}

func (d *Decision) write(w *wire.Writer) {
	w.String("kind", string(d.Kind))
	w.OptString("text", d.Text)
	w.String("askedBy", d.AskedBy)
	w.OptString("operation", d.Operation)
	w.OptString("by", d.By)
	w.OptString("user", d.User)
	w.OptString("answer", d.Answer)
	if d.Rule.Number > 0 {
		w.Object("rule", func(w *wire.Writer) {
			w.String("file", d.Rule.File)
			w.String("hash", d.Rule.Hash)
			w.Int("number", d.Rule.Number)
			w.Unknown(d.nested.Of("rule"))
		})
	}
	w.OptBool("self", d.Self)
	w.OptBool("unchecked", d.Unchecked)
	w.OptString("shown", d.Shown)
	d.Signature.write(w, d.nested)
	w.Unknown(d.Unknown)
}
