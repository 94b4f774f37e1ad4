package main

// runs are bugs of runs (spec/protocol.md §5.1): of how one begins, and of verbs for another one.
var runs = []mutant{
	{
		"a start joins a run", "protocol/push.go",
		"p.Begin && err != nil {", "p.Begin && err == ErrDeadCalls {",
		[]string{"./protocol ^TestVectors$", "simulation", "run/overlap.txtar"},
	}, {
		"a start does not wait for a supervisor", "protocol/push.go",
		"supervised = supervised || e.awaited(f)", "supervised = false",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a start is a sign of life of its namesake", "protocol/push.go",
		"		actor = Actor{}\n", "",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"a start takes a namesake for itself", "protocol/push.go",
		" && (own.Known() || !p.Begin)", "",
		[]string{"./protocol ^TestVectors$"},
	}, {
		"a verb is for every run", "protocol/operation.go",
		`return run == "" || run == op.RunID`, `return run == "" || op.RunID != ""`,
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"an operation fails twice", "protocol/fail.go",
		"e.op.State == Running || e.op.State == Aborted", "!e.op.State.Terminal()",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"a failing call is not the cause", "protocol/fail.go",
		"e.fail(Cause{Call: f.Call, ", "e.fail(Cause{Call: e.op.ID, ",
		[]string{"./protocol ^TestVectors$", "simulation"},
	}, {
		"what a dead run has left works beside the next one", "cmd/dpl-run/start.go",
		"	if len(ids) == 0 {\n", "	if len(ids) >= 0 {\n",
		[]string{"run/next.txtar"},
	}, {
		"the next run does not tell how a killed one has failed", "cmd/dpl-run/start.go",
		"err != nil || !deserted(op) {", "err == nil || !deserted(op) {",
		[]string{"run/next.txtar"},
	}, {
		"a call that was stopped is the cause", "cmd/dpl-run/call.go",
		"	if !c.fails(e) {\n", "	if c.fails(e) {\n",
		[]string{"run/first_cause.txtar"},
	},
}
