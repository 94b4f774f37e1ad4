package main

// graces are bugs of the fresh window after a silence (spec/protocol.md §4.6), and of who is alive.
var graces = []mutant{
	{
		"a window granted twice", "protocol/observe/grace.go",
		"	if g != nil || v.LastHeartbeat.IsZero()",
		"	if g != nil && !IsStale(seen.Age(g.At, g.Beat), oldest) || v.LastHeartbeat.IsZero()",
		[]string{"./protocol ^TestVectors$", "./protocol/group ^TestVectors$", "simulation"},
	}, {
		"a window never granted", "protocol/judge.go",
		"	if !e.before.silent(e.seen) {", "	if e.before.silent(e.seen) {",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window never granted in a group", "protocol/group/judge.go",
		"	if !e.g.silent(e.seen) {", "	if e.g.silent(e.seen) {",
		[]string{"./protocol/group ^TestVectors$", "simulation"},
	}, {
		"a window granted while somebody is heard of", "protocol/observe/grace.go",
		"	return !long(age, threshold) && (age", "	return long(age, threshold) && (age",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window granted to who has exited", "protocol/observe/grace.go",
		" || seen.Gone(v) != \"\" {\n		return g", " {\n		return g",
		[]string{"./protocol ^TestVectors$", "./protocol/group ^TestVectors$", "simulation"},
	}, {
		"a window keeps who exits in it", "protocol/observe/evidence.go",
		"	if evidence := seen.Gone(v); evidence != \"\" {\n		return evidence, age",
		"	if evidence := seen.Gone(v); evidence != \"\" && !seen.graced(v, threshold) {\n" +
			"		return evidence, age",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window that does not end", "protocol/observe/grace.go",
		"	return g != nil && !IsStale(seen.Age(g.At, g.Beat), threshold)", "	return g != nil",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a window that does not hold", "protocol/observe/evidence.go",
		" && IsStale(age, threshold) && !seen.graced(v, threshold):",
		" && IsStale(age, threshold):",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a heartbeat of a frame leaves its window", "protocol/heartbeat.go",
		"		f.Refresh(e.seen)\n", "		f.LastHeartbeat, f.Beat = e.seen.Now, e.seen.Beat()\n",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"a heartbeat of a supervisor leaves its window", "protocol/heartbeat.go",
		"	s.Refresh(e.seen)\n", "	s.LastHeartbeat, s.Beat = e.seen.Now, e.seen.Beat()\n",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"a heartbeat of a service leaves its window", "protocol/group/beat.go",
		"	s.Refresh(e.seen)\n", "	s.LastHeartbeat, s.Beat = e.seen.Now, e.seen.Beat()\n",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"long is the whole threshold", "protocol/observe/grace.go",
		"bool { return IsStale(age, TwoThirds(threshold)) }",
		"bool { return IsStale(age, threshold) }",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a takeover grants windows", "protocol/group/pass.go",
		`owner == "" || owner == p.Owner {`, `owner != "-" {`,
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"who was awake grants windows", "protocol/judge.go",
		"	if seen.Watch == observe.Awake {\n		return false\n	}\n\n", "",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"who has just woken takes over", "protocol/group/pass.go",
		"	return seen.Watch == observe.Woken && ", "	return seen.Watch == observe.Awake && ",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"who is present is stale", "protocol/observe/evidence.go",
		"	return v.Heartbeats || seen.presence(v.Identity()) != Present",
		"	return true",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a promise does not count", "protocol/observe/evidence.go",
		"	return v.Heartbeats || seen", "	return seen",
		[]string{"./protocol ^TestVectors$", "simulation"},
	},
}
