package plan

import "github.com/dpl-project/dpl/protocol/group"

// act takes all steps of plan. It leaves the actions to the caller, because they come after the
// commit.
func act(e *group.Draft, plan []course) *acting {
	a := &acting{Draft: e}
	places := e.Group.Registry.Places()
	for _, c := range plan {
		for _, step := range c.steps {
			i := places[c.id]
			if on, is := step.(carryOn); is && !on.changes(a, &e.Group.Registry.Services[i]) {
				continue
			}
			step.take(a, &e.Services()[i])
		}
		if len(e.Group.Registry.Services) != len(places) { // it was removed
			places = e.Group.Registry.Places()
		}
	}
	return a
}
