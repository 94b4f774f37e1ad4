package protocol

import (
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Cause has the facts of why an operation failed (spec §3.6). The reason of the transition says
// the same to people.
type Cause struct {
	Call     string           // the call that crashed or failed
	Evidence observe.Evidence // why it was found dead; "": it has failed, or that is not known
	Exit     observe.Exit     // of its command
	Reason   string           // as the call gave it; "": it gave none
	Unknown  []wire.Member
}

// CauseOf returns the cause of the transition that was made together with the event e of a call, if
// that call is the cause, or nil.
func (op Operation) CauseOf(e observe.Event) *Cause {
	for _, t := range op.Transitions {
		if t.Cause != nil && t.Revision == e.Revision && t.Cause.Call == e.CallID {
			return t.Cause
		}
	}
	return nil
}

func readCause(r *wire.Reader) *Cause {
	c := &Cause{}
	r.Object(func(name string) {
		switch name {
		case "call":
			c.Call = r.ID()
		case "evidence":
			c.Evidence = observe.Evidence(r.String())
		case "reason":
			c.Reason = r.String()
		default:
			if !c.Exit.ReadMember(r, name) {
				r.Unknown(&c.Unknown, name)
			}
		}
	})
	r.Require("call")
	return c
}

func (c *Cause) write(w *wire.Writer) {
	w.String("call", c.Call)
	w.OptString("evidence", string(c.Evidence))
	c.Exit.Write(w)
	w.OptString("reason", c.Reason)
	w.Unknown(c.Unknown)
}

// A FoundResource is what was at the path of a resource when its call began (spec §2.7). It is
// never changed once set.
type FoundResource struct {
	Path    string
	File    string // identifies it, for package fileops
	Unknown []wire.Member
}

func (f *FoundResource) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "path":
			f.Path = r.String()
		case "file":
			f.File = r.String()
		default:
			r.Unknown(&f.Unknown, name)
		}
	})
	r.Require("path", "file")
}

func (f *FoundResource) write(w *wire.Writer) {
	w.String("path", f.Path)
	w.String("file", f.File)
	w.Unknown(f.Unknown)
}
