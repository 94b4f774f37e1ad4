package main

// sets are bugs in the restart of services together. See the other file about the tests to run.
var sets = []mutant{
	{
		"a barrier that nobody minds", "protocol/group/pass_sets.go",
		"found.held = found.held || p.mustEnd(j)", "found.held = false",
		[]string{"./protocol/group TestVectors/^pass-set-"},
	}, {
		"a set without backoff", "protocol/group/pass_sets.go",
		"found.waits = found.waits || own.waits(p.seen.Now)", "found.waits = false",
		[]string{"./protocol/group TestVectors/^pass-set-"},
	}, {
		"the rest by name", "protocol/group/pass_sets.go",
		"InOrder(j.was, first) >= 0", "j.was.ID >= first.ID",
		[]string{"./protocol/group TestVectors/^pass-rest-for-one"},
	}, {
		"a bystander counts an attempt", "protocol/group/pass_act.go",
		"if step.restart && s.RestartCause != \"\" {", "if step.restart && s.RestartCause == \"-\" {",
		[]string{"./protocol/group TestVectors/^pass-set-"},
	}, {
		"a set member revived by a beat", "protocol/group/beat.go",
		" && !e.g.Registry.inSet(s.ID)", "",
		[]string{"./protocol/group TestVectors/^beat-in-set"},
	}, {
		"a dependency ends first", "protocol/group/pass_stop.go",
		"	if p.staysFor(s) {", "	if p.staysFor(s) && s.ID == \"\" {",
		[]string{"./protocol/group TestVectors/^pass-set-dependent-first"},
	}, {
		"a failed start is no cause", "protocol/group/pass_sets.go",
		"return p.judged[c.id].was.unjudged() && p.comesBack(c)", "return false",
		[]string{"./protocol/group TestVectors/start-failed"},
	},
}
