package group

import (
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Violations are the last violations that were reported of a service, oldest first (spec §27.3).
// They are replaced, never changed. Nil are none.
type Violations struct{ all []Violation }

// A Violation is one of them, and what was done about it.
type Violation struct {
	At     time.Time
	Code   string // an id
	Detail string
	Action RuleAction
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
func (v *Violations) last(action RuleAction) *Violation {
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
	wire.Word(c, "action", &v.Action, "action", RuleAction.Valid, wire.Always)
	c.ID("by", &v.By, wire.IfSet)
}

// A Rule says what follows a violation (spec §27.4).
type Rule struct {
	Match   string // a code; or the beginning of codes, and "*"
	Action  RuleAction
	Unknown []wire.Member
}

// A RuleAction is what is done about a violation.
type RuleAction string

const (
	RuleLog    RuleAction = "log"    // it is kept, as every violation is
	RuleNotify RuleAction = "notify" // an alert
	RuleWarn   RuleAction = "warn"   // the service is asked for a checkpoint
	RulePause  RuleAction = "pause"  // passes stop its processes by a signal, until it is continued
	RuleReap   RuleAction = "reap"   // passes stop the service, which is dead then
)

// Valid reports whether a is one of them.
func (a RuleAction) Valid() bool {
	return slices.Contains([]RuleAction{RuleLog, RuleNotify, RuleWarn, RulePause, RuleReap}, a)
}

// CheckMatch returns wire.ErrBadID if match is neither an id, nor an id or nothing before "*".
func CheckMatch(match string) error {
	if match == "*" {
		return nil
	}
	return wire.CheckID(strings.TrimSuffix(match, "*"))
}

func (r Rule) matches(code string) bool {
	prefix, open := strings.CutSuffix(r.Match, "*")
	return code == r.Match || open && strings.HasPrefix(code, prefix)
}

func (r Rule) same(s Rule) bool {
	return r.Match == s.Match && r.Action == s.Action && slices.Equal(r.Unknown, s.Unknown)
}

// after returns what is done about a violation with that code: the action of the first rule that
// matches, or RuleLog.
func (v *Supervision) after(code string) RuleAction {
	for _, r := range v.Rules {
		if r.matches(code) {
			return r.Action
		}
	}
	return RuleLog
}

func (r *Rule) record(c *wire.Codec) { c.Record(&r.Unknown, r.members, "match", "action") }

func (r *Rule) members(c *wire.Codec) {
	if c.String("match", &r.Match, wire.Always) && CheckMatch(r.Match) != nil {
		c.Refuse("it is neither a code nor the beginning of one and *")
	}
	wire.Word(c, "action", &r.Action, "action", RuleAction.Valid, wire.Always)
}
