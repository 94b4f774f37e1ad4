package page

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/observe"
)

// nest puts each call's lane below that of its caller, and says how deep it is. Of a call that has
// ended, the event of its start names the caller.
func (c *chart) nest(op model.Operation) {
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

	nested, placed := make([]*lane, 0, len(c.lanes)), make(map[*lane]bool, len(c.lanes))
	var add func(lanes []*lane, depth int)
	add = func(lanes []*lane, depth int) {
		for _, l := range lanes {
			if placed[l] {
				continue
			}
			l.depth, placed[l] = depth, true
			nested = append(nested, l)
			add(below[l], depth+1)
		}
	}
	add(below[nil], 0)
	for i := range c.lanes { // callers in a circle, in a file that somebody has edited
		add(c.lanes[i:i+1], 0)
	}
	c.lanes = nested
}

// callers returns the lane of each call's caller. Those that are roots have none.
func (c *chart) callers(op model.Operation) map[*lane]*lane {
	above := make(map[*lane]*lane)
	for _, e := range op.Events {
		if e.Type != observe.CallStarted || e.CallerID == "" {
			continue
		}
		above[c.byName["call "+e.CallID]] = c.byName["call "+e.CallerID]
	}

	for i, caller := range op.Callers() {
		l := c.byName["call "+op.Stack[i].CallID]
		if above[l] = nil; caller >= 0 {
			above[l] = c.byName["call "+op.Stack[caller].CallID]
		}
	}
	return above
}
