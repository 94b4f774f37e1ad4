package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Pause says since when the process of a service is stopped by a signal, because of a violation
// (supervision.md §27.6). It is replaced, never changed.
type Pause struct {
	At       time.Time
	Beat     observe.Beat // of At
	Continue bool         // the next pass lets the process go on

	unknown []wire.Member
	nested  *wire.Nested
}

func (p *Pause) continuing(is bool) *Pause {
	after := *p
	after.Continue = is
	return &after
}

func (p *Pause) record(c *wire.Codec) { c.Record(&p.unknown, p.members, "at") }

func (p *Pause) members(c *wire.Codec) {
	c.Time("at", &p.At, wire.Always)
	p.Beat.Member(c, "beat", &p.nested)
	c.Bool("continue", &p.Continue, wire.IfSet)
}
