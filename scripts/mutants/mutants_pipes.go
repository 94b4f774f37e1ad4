package main

// pipes are bugs in how a dpl-run keeps the reader of a failed stage from the end of its input.
var pipes = []mutant{
	{
		"a failed stage does not hold its pipe", "cmd/dpl-run/hold.go",
		"	if len(c.held) == 0 || s.DryRun() {\n", "	if len(c.held) >= 0 || s.DryRun() {\n",
		[]string{"./scripts/pipes TestPipes$", "pipes/first_fails.txtar"},
	}, {
		"a keeper does not hold the pipe", "cmd/dpl-run/hold.go",
		"		h.wait()\n		s.EndDead(", "		s.EndDead(",
		[]string{"./scripts/pipes TestPipes$", "pipes/first_fails.txtar"},
	}, {
		"a plain stage gets TERM before the last stage", "cmd/dpl-run/stop.go",
		"			c.stopCallees()\n", "			_ = c\n",
		[]string{"pipes/plain_stages.txtar"},
	},
}
