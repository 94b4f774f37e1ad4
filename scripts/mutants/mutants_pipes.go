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
		"		r.termAfter(c.stopCallees())\n", "		_ = c\n		r.term()\n",
		[]string{"pipes/plain_stages.txtar"},
	}, {
		"a reader that is the caller of its writer has its pipe", "cmd/dpl-run/inherited_unix.go",
		"l.Mode&unix.S_IWUSR == 0}, path)", "l.Mode&unix.S_IWUSR < 0}, path)",
		[]string{"pipes/plain_stages.txtar"},
	}, {
		"what a command has left writes on", "cmd/dpl-run/stop.go",
		"is && endsWell() {\n		c.cutOff(", "is && !endsWell() {\n		c.cutOff(",
		[]string{"pipes/plain_stages.txtar"},
	}, {
		"a stage waits for a dpl-run whose command has failed", "cmd/dpl-run/follow.go",
		"|| r.failing != nil) && r", ") && r",
		[]string{"pipes/plain_stages.txtar"},
	}, {
		"a refused call leaves a crash unrecorded", "cmd/dpl-run/hold.go",
		"status == cli.StatusCleanUp || !judged", "status != cli.StatusCleanUp && !judged",
		[]string{"pipes/orphans.txtar"},
	}, {
		"only the keeper of a dead caller stops its job", "cmd/dpl-run/hold.go",
		"mark != \"\" && !h.stopped[mark]", "false",
		[]string{"pipes/orphans.txtar"},
	}, {
		"a keeper that is reset has no note", "cmd/internal/process/job/keep_linux.go",
		"err == unix.ECONNRESET:", "false:",
		[]string{"./cmd/internal/process/job ^TestKeeperGetsNote$"},
	}, {
		"the first call to end after TERM is the cause", "cmd/dpl-run/stop.go",
		"!r.ended() && c.hasCallees() {", "r.ended() && c.hasCallees() {",
		[]string{"pipes/plain_stages.txtar"},
	}, {
		"a retry reads what is left of a pipe", "cmd/dpl-run/again.go",
		"	if err := readAgain(os.Stdin); err != nil {", "	if err := error(nil); err != nil {",
		[]string{"run/retry.txtar"},
	}, {
		"a failure that was not printed was", "cmd/internal/cli/env.go",
		"		return fmt.Errorf(\"stderr: %w\", err)\n", "		return nil\n",
		[]string{"cleanup/failures.txtar"},
	},
}
