package main

// alerting gives wrong alerts to hooks, or none.
var alerting = []mutant{
	{
		"a hook gets a crash and its restart", "protocol/group/alerts.go",
		"i+1 < len(lines) && alerts[i].saidBy(alerts[i+1])", "false",
		[]string{"./protocol/group ^TestVectors$", "orchestrate/on_alert.txtar"},
	}, {
		"a restart says the failure of another service", "protocol/group/alerts.go",
		"a.ServiceID == next.ServiceID &&", "true &&",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"a restart says an earlier failure", "protocol/group/alerts.go",
		"		a.Timestamp.Equal(next.Timestamp)", "		true",
		[]string{"./protocol/group ^TestVectors$"},
	},
}
