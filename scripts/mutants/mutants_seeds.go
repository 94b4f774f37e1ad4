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
		"s.State == state && (state != StateRunning || g.dead(s, seen) == \"\")", "s.State == state",
		[]string{"wait/ready_later.txtar"},
	},
}
