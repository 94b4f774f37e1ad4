package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Violations are the last violations that were reported of a service, oldest first (supervision.md
// §27.3). They are replaced, never changed. Nil are none.
type Violations struct{ all []Violation }

// A Violation is one of them, and what was done about it.
type Violation struct {
	At     time.Time
	Code   string // an id
	Detail string
	Action policy.RuleAction
	By     string // who reported it

	unknown []wire.Member
}

// keptViolations is the number of violations that a service keeps.
const keptViolations = 16

// All returns all violations, oldest first. They must not be changed.
func (v *Violations) All() []Violation {
	if v == nil {
		return nil
	}
	return v.all
}

// with returns v with one more, without the oldest if those are too many.
func (v *Violations) with(one Violation) *Violations {
	all := append(slices.Clone(v.All()), one)
	return &Violations{all[max(len(all)-keptViolations, 0):]}
}

// last returns the last one about which action was done, or nil.
func (v *Violations) last(action policy.RuleAction) *Violation {
	for _, one := range slices.Backward(v.All()) {
		if one.Action == action {
			return &one
		}
	}
	return nil
}

// violationsMember is the member violations. An empty array is as good as none.
func violationsMember(c *wire.Codec, v **Violations) {
	if !c.At("violations") || !c.Reads() && *v == nil {
		return
	}
	all := (*v).All()
	if wire.Objects(c, "violations", &all, (*Violation).record, wire.Always) && all != nil {
		*v = &Violations{all}
	}
}

func (v *Violation) record(c *wire.Codec) {
	c.Record(&v.unknown, v.members, "at", "code", "action")
}

func (v *Violation) members(c *wire.Codec) {
	c.Time("at", &v.At, wire.Always)
	c.ID("code", &v.Code, wire.Always)
	c.String("detail", &v.Detail, wire.IfSet)
	wire.Word(c, "action", &v.Action, "action", policy.RuleAction.Valid, wire.Always)
	c.ID("by", &v.By, wire.IfSet)
}

const (
	askViolation = "violation" // beside the names of clocks
)
