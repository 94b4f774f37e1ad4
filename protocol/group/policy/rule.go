package policy

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Rule says what follows a violation (supervision.md §27.4).
type Rule struct {
	Match   string // a code; or the beginning of codes, and "*"
	Action  RuleAction
	Unknown []wire.Member
}

func (r Rule) matches(code string) bool {
	prefix, open := strings.CutSuffix(r.Match, "*")
	return code == r.Match || open && strings.HasPrefix(code, prefix)
}

// Same reports whether r and s have the same text.
func (r Rule) Same(s Rule) bool {
	return r.Match == s.Match && r.Action == s.Action && slices.Equal(r.Unknown, s.Unknown)
}

// Record reads or writes r, an object.
func (r *Rule) Record(c *wire.Codec) { c.Record(&r.Unknown, r.members, "match", "action") }

func (r *Rule) members(c *wire.Codec) {
	if c.String("match", &r.Match, wire.Always) && CheckMatch(r.Match) != nil {
		c.Refuse("it is neither a code nor the beginning of one and *")
	}
	wire.Word(c, "action", &r.Action, "action", RuleAction.Valid, wire.Always)
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

// ActionFor returns what follows a violation with that code: the action of the first of rules that
// matches, or RuleLog.
func ActionFor(rules []Rule, code string) RuleAction {
	for _, r := range rules {
		if r.matches(code) {
			return r.Action
		}
	}
	return RuleLog
}
