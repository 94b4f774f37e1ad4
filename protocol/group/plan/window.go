package plan

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
)

// limitStarts returns the courses of o without the starts that this pass must not make, and how
// many of these are only left to the next pass.
func (o outlook) limitStarts() (courses []course, later int) {
	courses = slices.Clone(o.courses)
	o.admit(courses)

	for i, c := range courses {
		if slices.Contains(o.started, c.id) { // by an earlier round
			courses[i].steps = without[start](c.steps)
		}
	}
	return courses, o.fit(courses)
}

// admit removes from courses the starts for which the window of the group has no place
// (supervision.md §28). A service that runs, stops, or is about to restart has a place. Those that
// wait get one in order, restarts first.
func (o outlook) admit(courses []course) {
	free := o.group.Registry.Supervision.Window
	if free == 0 {
		return
	}

	for _, c := range courses {
		if o.hasPlace(c) {
			free--
		}
	}

	// A restart goes first: the group was complete with that service.
	for _, restarts := range []bool{true, false} {
		for i, c := range courses {
			if !o.needsPlace(c) || o.judged[c.id].Service.RestartPending != restarts {
				continue
			}
			if free--; free < 0 {
				courses[i].steps = without[start](c.steps)
			}
		}
	}
}

// fit leaves in courses only as many starts of processes, in order, as the pass has room for. It
// returns how many others there were.
func (o outlook) fit(courses []course) (later int) {
	if o.room == nil {
		return 0
	}

	free := *o.room
	for i, c := range courses {
		if _, starts := stepOf[start](c); !starts || o.judged[c.id].Service.IsGroup() {
			continue
		}
		if free--; free < 0 {
			courses[i].steps = without[start](c.steps)
			later++
		}
	}
	return later
}

// hasPlace reports whether c leaves its service something to run or to be stopped, or to be
// restarted. What waits for dependencies has none: they may need it.
func (o outlook) hasPlace(c course) bool {
	s := o.judged[c.id].Service
	switch s.State {
	case group.StateRegistered, group.StateWaiting:
		_, adopts := stepOf[adopt](c)
		return adopts || s.RestartPending && o.set.mustWait(s.ID)
	case group.StateDead, group.StateStopped:
		return false
	}

	// It keeps its place unless this pass brings it to an end that no pass changes.
	_, again := stepOf[joinSet](c)
	_, completes := stepOf[complete](c)
	_, dies := stepOf[die](c)
	_, stops := stepOf[stopped](c)
	_, goes := stepOf[remove](c)
	completed := (completes || s.State == group.StateCompleted) && !again
	return !completed && !dies && !stops && !goes
}

// needsPlace reports whether c starts a service that has yet to get a place.
func (o outlook) needsPlace(c course) bool {
	s := o.judged[c.id].Service
	_, starts := stepOf[start](c)
	return starts && (s.State == group.StateRegistered || s.State == group.StateWaiting)
}
