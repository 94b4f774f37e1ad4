package main

// simulated are bugs in the rules of groups that the simulation must find, whatever the vectors
// say. See the other file about the tests to run.
var simulated = []mutant{
	{
		"histories with a barrier that nobody minds", "protocol/group/pass_sets.go",
		"found.held = found.held || p.mustEnd(j)",
		"found.held = false",
		[]string{"simulation"},
	}, {
		"histories with two charges for a failure", "protocol/group/pass_intensity.go",
		"p.restarts = charged(p.restarts, c.at, limit.Period, p.seen.Now)",
		"p.restarts = charged(charged(p.restarts, c.at, limit.Period, p.seen.Now), " +
			"c.at.Add(-1e6), limit.Period, p.seen.Now)",
		[]string{"simulation"},
	}, {
		"histories with a window that tumbles", "protocol/group/pass_intensity.go",
		"from := all[len(all)-1].Add(-period)",
		"from := all[len(all)-1].Truncate(period)",
		[]string{"simulation"},
	}, {
		"histories with the rest by name", "protocol/group/pass_sets.go",
		"InOrder(j.was, first) >= 0",
		"j.was.ID >= first.ID",
		[]string{"simulation"},
	}, {
		"histories without the soft step", "protocol/group/pass_clocks.go",
		"case c.soft != 0 && asked == nil:",
		"case c.soft != 0 && asked == nil && c.age(seen) < c.hard:",
		[]string{"simulation"},
	}, {
		"histories with an unknown status that is 0", "protocol/group/pass_ends.go",
		"s.Starting = false // it has begun, so the start was not lost",
		"s.tell(LastExit{At: e.seen.Now, Reason: Exited, Code: CodeExited})\n" +
			"return ending{settled: observe.Exited}",
		[]string{"simulation"},
	}, {
		"histories with ends that nobody awaits", "protocol/group/pass_ends.go",
		"case r.gone == observe.Exited && s.awaits(r.kept, seen):\n\t\treturn ending{awaited: true, finishing: r.end()}",
		"case r.gone == observe.Exited && r.kept:\n" +
			"s.tell(LastExit{At: seen.Now, Reason: Exited, Code: CodeExited})\n" +
			"return ending{settled: observe.Exited}",
		[]string{"simulation"},
	}, {
		"histories with one place too many", "protocol/group/pass_window.go",
		"if free--; free < 0 {\n\t\t\t\tplan[i].steps = without[start](c.steps)\n\t\t\t}",
		"if free--; free < -1 {\n\t\t\t\tplan[i].steps = without[start](c.steps)\n\t\t\t}",
		[]string{"simulation"},
	}, {
		"histories with a set member revived", "protocol/group/beat.go",
		" && !e.g.Registry.inSet(s.ID)", "",
		[]string{"simulation"},
	}, {
		"histories with a group that begins late", "protocol/group/child.go",
		"case was.is(p) && was.Generation >= p.Generation:",
		"case was.is(p) && was.Generation == p.Generation:",
		[]string{"simulation"},
	}, {
		"histories with a group that ends late", "protocol/group/child.go",
		"case was.is(p) && was.Generation > p.Generation:", "case was.is(p) && false:",
		[]string{"simulation"},
	}, {
		"histories with an end of any generation", "protocol/group/pass_child.go",
		"view.Parent == e.g.parentOf(s)", "view.Parent.is(e.g.parentOf(s))",
		[]string{"simulation"},
	},
}
