package orchestrate

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol/group/policy"
)

// A rule is MATCH=ACTION: what follows a violation (spec §27.4).
type rule policy.Rule

// UnmarshalText sets r to text.
func (r *rule) UnmarshalText(text []byte) error {
	match, action, _ := strings.Cut(string(text), "=")
	*r = rule{Match: match, Action: policy.RuleAction(action)}
	if policy.CheckMatch(match) != nil || !r.Action.Valid() {
		return fmt.Errorf("want MATCH=ACTION, like sandbox=reap or lint*=log, with the action log, "+
			"notify, warn, pause or reap, not %q", text)
	}
	return nil
}

// rules returns the rules that replace those of the group, or nil if they stay.
func (c *orchestrate) rules() []policy.Rule {
	if c.Rule == nil && !c.NoRule {
		return nil
	}

	rules := []policy.Rule{}
	for _, r := range c.Rule {
		rules = append(rules, policy.Rule(r))
	}
	return rules
}
