package table

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// Limits returns what the clocks of v show, what it has spent, and how it has violated rules
// lately, worded to follow "service ID ".
func (s Style) Limits(v model.Service) (all []string) {
	for _, c := range v.Clocks(v.Group.Seen) {
		all = append(all, s.clock(c, v.Group.Seen.Now))
	}
	for _, limit := range v.Budget() {
		all = append(all, s.budget(limit, v.Spent.Of(limit.Name)))
	}
	return append(all, violated(v)...)
}

// violated returns the last violations of v, the newest first, worded to follow "service ID ".
func violated(v model.Service) (all []string) {
	const most = 3 // are listed
	past := v.Violations.All()
	for i, one := range slices.Backward(past) {
		if listed := len(past) - 1 - i; listed == most {
			return append(all, fmt.Sprintf("has %d more violations: dpl-status --json", i+1))
		}

		text := "violated " + one.Code
		if one.Detail != "" {
			text += " (" + one.Detail + ")"
		}
		all = append(all, fmt.Sprintf("%s %s: %s", text, explain.Ago(v.Group.Seen.Now.Sub(one.At)),
			one.Action))
	}
	return all
}

// clock returns what c shows, worded to follow "service ID ".
func (s Style) clock(c group.Clock, now time.Time) string {
	since := "has run for"
	if c.Name == "progress" {
		since = "has made no progress for"
	}

	limit := c.Hard
	if limit == 0 {
		limit = c.Soft
	}
	text := fmt.Sprintf("%s %s %s of %s", since, s.bar(float64(c.Shows)/float64(limit)),
		cli.Brief(c.Shows), cli.Brief(limit))

	switch {
	case !c.AskedAt.IsZero() && c.Answered:
		return text + ", gave a checkpoint"
	case !c.AskedAt.IsZero():
		return text + ", asked for a checkpoint " + explain.Ago(now.Sub(c.AskedAt))
	case c.Hard != 0 && c.Soft != 0:
		return text + ", is asked for a checkpoint after " + cli.Brief(c.Soft)
	case c.Hard == 0:
		return text + ", then is asked for a checkpoint"
	}
	return text
}

// budget returns what was spent of limit, worded to follow "service ID ".
func (s Style) budget(limit policy.Amount, spent int64) string {
	part := float64(spent) / float64(max(limit.N, 1))
	return fmt.Sprintf("has spent %s %d of %d %s", s.bar(part), spent, limit.N, limit.Name)
}

// bar draws a part of a whole.
func (s Style) bar(part float64) string {
	const cells = 10
	full := int(min(max(part, 0), 1) * cells)
	if s.ASCII {
		return "[" + strings.Repeat("#", full) + strings.Repeat(".", cells-full) + "]"
	}
	return strings.Repeat("▓", full) + strings.Repeat("░", cells-full)
}
