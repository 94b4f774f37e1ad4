package plan

// An outlook is what a pass would do about all services, in order, given what was decided for the
// group.
type outlook struct {
	*situation
	premises
	courses []course
}

// Rules return the steps of a service (groups.md §11.3), given what was decided for the group.
type rules struct {
	*situation
	premises
	course func(id string) course // of another service, given the same
}

// stepOf returns the first step of c that is an S.
func stepOf[S step](c course) (S, bool) {
	for _, s := range c.steps {
		if s, ok := s.(S); ok {
			return s, true
		}
	}
	var none S
	return none, false
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

// then returns first followed by rest.
func then(first step, rest []step) []step { return append([]step{first}, rest...) }
