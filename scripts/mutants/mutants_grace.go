package main

// graces are bugs of the fresh window after a silence (spec/protocol.md §4.6), and of who is alive.
var graces = []mutant{
	{
		"a window granted twice", "protocol/grace.go",
		"	if g != nil || v.heartbeat.IsZero()",
		"	if g != nil && !stale(seen.age(g.At, g.Beat), oldest) || v.heartbeat.IsZero()",
		[]string{"./protocol ^TestVectors$", "./protocol ^TestGroupVectors$", "simulation"},
	}, {
		"a window never granted", "protocol/grace.go",
		"	if !e.before.silent(e.seen) {", "	if e.before.silent(e.seen) {",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window never granted in a group", "protocol/grace.go",
		"	if !e.g.silent(e.seen) {", "	if e.g.silent(e.seen) {",
		[]string{"./protocol ^TestGroupVectors$", "simulation"},
	}, {
		"a window granted while somebody is heard of", "protocol/grace.go",
		"	return !long(age, threshold) && (age", "	return long(age, threshold) && (age",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window granted to who has exited", "protocol/grace.go",
		" ||\n		seen.gone(v.pid, v.process, v.heartbeat) != \"\" {", " {",
		[]string{"./protocol ^TestVectors$", "./protocol ^TestGroupVectors$", "simulation"},
	}, {
		"a window keeps who exits in it", "protocol/evidence.go",
		"	if evidence := seen.gone(v.pid, v.process, v.heartbeat); evidence != \"\" " +
			"{\n		return evidence, age",
		"	if evidence := seen.gone(v.pid, v.process, v.heartbeat); evidence != \"\" && " +
			"!seen.graced(v, threshold) {\n		return evidence, age",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window that does not end", "protocol/grace.go",
		"	return g != nil && !stale(seen.age(g.At, g.Beat), threshold)", "	return g != nil",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window that does not hold", "protocol/evidence.go",
		" && stale(age, threshold) && !seen.graced(v, threshold) {", " && stale(age, threshold) {",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a heartbeat of a frame leaves its window", "protocol/heartbeat.go",
		"		f.Grace = nil\n", "",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"a heartbeat of a supervisor leaves its window", "protocol/heartbeat.go",
		"	s.Grace = nil\n", "",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"a heartbeat of a service leaves its window", "protocol/group_edit.go",
		"s.Beat, s.Grace = e.seen.Now, e.seen.beat(), nil", "s.Beat = e.seen.Now, e.seen.beat()",
		[]string{"./protocol ^TestGroupVectors$"},
	}, {
		"long is the whole threshold", "protocol/grace.go",
		"bool { return stale(age, twoThirds(threshold)) }", "bool { return stale(age, threshold) }",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a takeover grants windows", "protocol/pass.go",
		"	if !other { // a new owner", "	if other || !other { // a new owner",
		[]string{"./protocol ^TestGroupVectors$"},
	}, {
		"who was awake grants windows", "protocol/grace.go",
		"	if seen.Watch == Awake {\n		return false\n	}\n\n	for _, f", "	for _, f",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"who has just woken takes over", "protocol/pass.go",
		"	return seen.Watch == Woken && ", "	return seen.Watch == Awake && ",
		[]string{"./protocol ^TestGroupVectors$"},
	}, {
		"who is present is stale", "protocol/evidence.go",
		"	return v.promised || presence != Present && presence != Stopped",
		"	return v.promised || presence != Stopped",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"who is stopped is stale", "protocol/evidence.go",
		"	return v.promised || presence != Present && presence != Stopped",
		"	return v.promised || presence != Present",
		[]string{"./protocol ^TestMortals$", "alive/process.txtar"},
	}, {
		"a promise does not count", "protocol/evidence.go",
		"	return v.promised || presence", "	return presence",
		[]string{"./protocol ^TestVectors$", "simulation"},
	},
}
