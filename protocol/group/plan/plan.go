package plan

// A plan is what a pass does about all services, in order, and what it has decided for the group.
type plan struct {
	outlook
	later int // how many starts it leaves to the next pass
}

// plan returns the plan of a pass. All services have been judged, and none has been stopped or
// started yet, so each course may depend on all judgements. A start also depends on the courses of
// the dependencies, and a stop on those of the dependents.
//
// What is charged to the group, and which services restart together, depend on what each would do
// by itself. Whether the group ends depends on what they do then. So there are up to four outlooks.
func (in *situation) plan() plan {
	v := &in.group.Registry.Supervision
	alone := in.outlook(premises{charges: v.Restarts, end: v.End})
	if alone.ends() {
		return plan{outlook: alone}
	}

	given, exceeded := alone.charge()
	if alone.premises = given; exceeded {
		alone = in.outlook(given) // without services that are parked now
	}

	together := alone
	if given.set = alone.restartSet(); len(given.set.members) > 0 {
		together = in.outlook(given)
	}

	if given.end = together.groupEnd(); given.ends() {
		given.set = set{} // nothing is restarted any more
		return plan{outlook: in.outlook(given)}
	}

	var later int
	together.courses, later = together.limitStarts()
	return plan{together, later}
}

// outlook returns what a pass does about all services, given what was decided for the group.
func (in *situation) outlook(given premises) outlook {
	services := len(in.group.Registry.Services)
	planned := make(map[string]course, services)
	r := &rules{situation: in, premises: given}
	r.course = func(id string) course {
		if c, asked := planned[id]; asked {
			return c
		}

		// Without steps, in case services depend on each other in a circle, and a rule asks for
		// this course on the way to it.
		planned[id] = course{id: id}
		c := course{id, r.rule(in.judged[id])}
		planned[id] = c
		return c
	}

	all := make([]course, 0, services)
	for _, id := range in.group.Registry.Ordered() {
		all = append(all, r.course(id))
	}
	return outlook{in, given, all}
}
