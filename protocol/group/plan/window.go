package plan

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
)

// admit returns plan without the starts for which the window of the group has no place (spec §28).
// Who runs, stops, or is about to restart has a place. Who waits gets one in order, restarts first.
func (p *planner) admit(plan []course) []course {
	free := p.g.Registry.Supervision.Window
	if free == 0 {
		return plan
	}

	for _, c := range plan {
		if p.hasPlace(c) {
			free--
		}
	}

	for _, restarts := range []bool{true, false} {
		for i, c := range plan {
			if !p.needsPlace(c) || p.judged[c.id].Service.RestartPending != restarts {
				continue
			}
			if free--; free < 0 {
				plan[i].steps = without[start](c.steps)
			}
		}
	}
	return plan
}

// once returns plan without the starts of services that an earlier round has started.
func (p *planner) once(plan []course) []course {
	for i, c := range plan {
		if slices.Contains(p.started, c.id) {
			plan[i].steps = without[start](c.steps)
		}
	}
	return plan
}

// limit returns plan with only as many starts of processes, in order, as the pass has room for. It
// counts the others.
func (p *planner) limit(plan []course) []course {
	if p.room == nil {
		return plan
	}

	free := *p.room
	for i, c := range plan {
		if _, starts := stepOf[start](c); !starts || p.judged[c.id].Service.IsGroup() {
			continue
		}
		if free--; free < 0 {
			plan[i].steps = without[start](c.steps)
			p.later++
		}
	}
	return plan
}

// hasPlace reports whether c leaves its service something to run or to be stopped, or to be
// restarted. What waits for dependencies has none: they may need it.
func (p *planner) hasPlace(c course) bool {
	s := p.judged[c.id].Service
	switch s.State {
	case group.StateRegistered, group.StateWaiting:
		_, adopts := stepOf[adopt](c)
		return adopts || s.RestartPending && p.barred(s)
	case group.StateDead, group.StateStopped:
		return false
	}

	_, again := stepOf[standBy](c)
	_, completes := stepOf[complete](c)
	_, dies := stepOf[die](c)
	_, stops := stepOf[stopped](c)
	_, goes := stepOf[remove](c)
	completed := (completes || s.State == group.StateCompleted) && !again
	return !completed && !dies && !stops && !goes
}

// needsPlace reports whether c starts a service that has yet to get a place.
func (p *planner) needsPlace(c course) bool {
	s := p.judged[c.id].Service
	_, starts := stepOf[start](c)
	return starts && (s.State == group.StateRegistered || s.State == group.StateWaiting)
}

// without returns steps without those that are an S.
func without[S step](steps []step) (kept []step) {
	for _, s := range steps {
		if _, is := s.(S); !is {
			kept = append(kept, s)
		}
	}
	return kept
}
