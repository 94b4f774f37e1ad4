package group

import (
	"slices"
	"strings"
	"time"
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
		if _, starts := stepOf[start](c); !starts || p.judged[c.id].Service.isGroup() {
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
	case StateRegistered, StateWaiting:
		_, adopts := stepOf[adopt](c)
		return adopts || s.RestartPending && p.barred(s)
	case StateDead, StateStopped:
		return false
	}

	_, again := stepOf[standBy](c)
	_, completes := stepOf[complete](c)
	_, dies := stepOf[die](c)
	_, stops := stepOf[stopped](c)
	_, goes := stepOf[remove](c)
	completed := (completes || s.State == StateCompleted) && !again
	return !completed && !dies && !stops && !goes
}

// needsPlace reports whether c starts a service that has yet to get a place.
func (p *planner) needsPlace(c course) bool {
	s := p.judged[c.id].Service
	_, starts := stepOf[start](c)
	return starts && (s.State == StateRegistered || s.State == StateWaiting)
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

// full reports whether the window of r has no place for a service that waits to be started.
func (r Registry) full() bool {
	taken := 0
	for i := range r.Services {
		s := &r.Services[i]
		waits := s.State == StateRegistered || s.State == StateWaiting
		if !waits && !s.State.Final() {
			taken++
		}
	}
	return r.Supervision.Window != 0 && taken >= r.Supervision.Window
}

// tellBlocked raises an alert if nothing of the group runs or will, although services wait: once
// for the same reasons (spec §28).
func (e *edit) tellBlocked() {
	v := &e.g.Registry.Supervision
	reasons := e.g.Registry.blocked(e.seen.Now)
	if reasons != "" && reasons != v.Blocked {
		e.raise(AlertGroupBlocked, "", "%s", reasons)
	}
	v.Blocked = reasons
}

// blocked returns why all services of r that have not ended wait for what will not come, or "". A
// maintenance ends.
func (r Registry) blocked(now time.Time) string {
	var blocked []*Service
	for i := range r.Services {
		switch s := &r.Services[i]; {
		case s.State.Final():
		case s.Maintenance.On(now), s.waitsForMaintenance():
			return ""
		case s.State == StateWaiting, s.State == StateRegistered && s.BlockedBy != "":
			if s.BlockedBy != "" {
				blocked = append(blocked, s)
			}
		default:
			return ""
		}
	}

	slices.SortFunc(blocked, InOrder)
	var reasons []string
	for _, s := range blocked {
		reasons = append(reasons, s.ID+": "+s.BlockedBy)
	}
	return strings.Join(reasons, "; ")
}
