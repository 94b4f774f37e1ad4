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

func (c *Cause) record(w *wire.Codec) { w.Record(&c.Unknown, c.members, "call") }

func (c *Cause) members(w *wire.Codec) {
	w.ID("call", &c.Call, wire.Always)
	w.String("evidence", (*string)(&c.Evidence), wire.IfSet)
	c.Exit.Members(w)
	w.String("reason", &c.Reason, wire.IfSet)
}

// A FoundResource is what was at the path of a resource when its call began (spec §2.7). It is
// never changed once set.
type FoundResource struct {
	Path    string
	File    string // identifies it, for package fileops
	Unknown []wire.Member
}

func (f *FoundResource) record(c *wire.Codec) { c.Record(&f.Unknown, f.members, "path", "file") }

func (f *FoundResource) members(c *wire.Codec) {
	c.String("path", &f.Path, wire.Always)
	c.String("file", &f.File, wire.Always)
}
