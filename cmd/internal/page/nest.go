package page

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol/observe"
)

// nest puts each call's lane below that of its caller, and says how deep it is. Of a call that has
// ended, the event of its start names the caller.
func (c *chart) nest(op view.Operation) {
	above := c.callers(op)
	below := make(map[*lane][]*lane)
	for _, l := range c.lanes {
		below[above[l]] = append(below[above[l]], l)
	}

	isRoot := func(l *lane) bool { return l.weight == root }
	roots, others := slices.DeleteFunc(slices.Clone(below[nil]), func(l *lane) bool {
		return !isRoot(l)
	}), slices.DeleteFunc(below[nil], isRoot)
	below[nil] = append(roots, others...)

	nested := make([]*lane, 0, len(c.lanes))
	var add func(caller *lane, depth int)
	add = func(caller *lane, depth int) {
		for _, l := range below[caller] {
			l.depth = depth
			nested = append(nested, l)
			add(l, depth+1)
		}
	}
	add(nil, 0)
	c.lanes = nested
}

// callers returns the lane of each call's caller. Those that are roots have none.
func (c *chart) callers(op view.Operation) map[*lane]*lane {
	above := make(map[*lane]*lane)
	for _, e := range op.Events {
		if e.Type != observe.CallStarted || e.CallerID == "" {
			continue
		}
		l, caller := c.byName["call "+e.CallID], c.byName["call "+e.CallerID]
		if !under(above, l, caller) {
			above[l] = caller
		}
	}

	for i, caller := range op.Callers() {
		l := c.byName["call "+op.Stack[i].CallID]
		delete(above, l)
		if caller < 0 {
			continue
		}
		if of := c.byName["call "+op.Stack[caller].CallID]; !under(above, l, of) {
			above[l] = of
		}
	}
	return above
}

// under reports whether other is l, or below it, or there is no other: a file that somebody has
// edited may say anything.
func under(above map[*lane]*lane, l, other *lane) bool {
	if other == nil {
		return true
	}
	for ; other != nil; other = above[other] {
		if other == l {
			return true
		}
	}
	return false
}
