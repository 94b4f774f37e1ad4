package main

// seeds are bugs in what the seeds ask for.
var seeds = []mutant{
	{
		"a service that is not registered yet is removed", "cmd/dpl-wait/wait.go",
		"		case t.state != notThere:\n			t.outcome, t.state = observe.Impossible",
		"		default:\n			t.outcome, t.state = observe.Impossible",
		[]string{"wait/ready_later.txtar"},
	}, {
		"a service that was killed is running", "protocol/group/judge.go",
		"return g.dead(s, seen) == \"\" && !g.ends[s.ID].unbegun && (s.alive(seen) || ", "return (true || ",
		[]string{"wait/ready_later.txtar"},
	}, {
		"blocked tasks keep an open goal running", "protocol/queue/edit.go",
		"(t.State != Blocked || t.asks())", "(t.State != Blocked || true)",
		[]string{"./protocol/queue ^TestVectors$", "seed/operator.txtar"},
	}, {
		"an open question halts with an open goal", "protocol/queue/edit.go",
		"(t.State != Blocked || t.asks())", "t.State != Blocked",
		[]string{"./protocol/queue ^TestVectors$"},
	},
}
