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
	}, {
		"an alert that waits is no finding", "cmd/dpl-doctor/alerts.go",
		"append(p.alertsWaiting(), p.alertsLost()...)", "p.alertsLost()",
		[]string{"orchestrate/on_alert_again.txtar"},
	}, {
		"an alert is tried again at once", "protocol/group/alerts.go",
		"waited >= delay || waited < 0", "waited >= 0*delay || waited < 0",
		[]string{"./protocol/group ^TestVectors$", "orchestrate/on_alert_again.txtar"},
	}, {
		"a try of an alert comes too late after a change of the clock", "protocol/group/alerts.go",
		"waited >= delay || waited < 0", "waited >= delay",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"tries of an alert are a minute apart", "protocol/group/alerts.go",
		"firstAlertDelay<<(t.Tries-1)", "firstAlertDelay",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"each end tries an alert again", "protocol/group/alerts.go",
		"!prompted && (", "(",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"an alert is tried for ever", "protocol/group/alerts.go",
		"again && tries < MaxAlertTries", "again",
		[]string{"./protocol/group ^TestVectors$", "orchestrate/on_alert_again.txtar"},
	}, {
		"a lost alert is forgotten", "protocol/group/alerts.go",
		"r.AlertsLost = lost", "_ = lost",
		[]string{"./protocol/group ^TestVectors$", "orchestrate/on_alert_again.txtar"},
	}, {
		"alerts are given for as long as there are some", "cmd/internal/orchestrator/alerts.go",
		"!call.goesOn()", "false",
		[]string{"./cmd/internal/orchestrator TestGiveAlertsForAMinute"},
	}, {
		"a hook that cannot send has sent", "cmd/internal/hook/hook.go",
		"case 75, 126, 127:", "case 126, 127:",
		[]string{"./cmd/internal/hook TestAgain"},
	}, {
		"alerts are rotated before the hook has them", "fileops/alerts.go",
		"given != group.NoneGiven && given < last", "given == group.NoneGiven && given < last",
		[]string{"./fileops TestRotateAlerts", "orchestrate/alerts_rotated.txtar"},
	}, {
		"alerts are rotated that may have to be written again", "fileops/alerts.go",
		"last >= next || ", "",
		[]string{"./fileops TestRotateAlerts"},
	}, {
		"alerts are rotated under another process that gives them", "fileops/alerts.go",
		"	if err != nil || lock == nil {\n		return trust.IgnoreBusy(err)\n	}\n	defer lock.Unlock()\n",
		"	_ = lock\n",
		[]string{"./fileops TestRotateAlertsOnlyIfGiven"},
	}, {
		"rotated alerts do not count", "fileops/alerts.go",
		"[]string{l.AlertsPath(group), l.EarlierAlerts(group)}", "[]string{l.AlertsPath(group)}",
		[]string{"./fileops TestRotateAlerts", "orchestrate/alerts_rotated.txtar"},
	}, {
		"a hook gets silenced alerts", "protocol/group/alerts.go",
		"alerts[i].Silenced || ", "",
		[]string{"./protocol/group ^TestVectors$", "register/silence.txtar"},
	}, {
		"silenced alerts wait for ever", "protocol/group/alerts.go",
		"		upTo = line.Seq\n		if", "		if",
		[]string{"./protocol/group ^TestVectors$", "register/silence.txtar"},
	}, {
		"what died in a silence stays unknown", "protocol/group/silence.go",
		"s.InTrouble(true, e.seen.Now) && (", "false && (",
		[]string{"./protocol/group ^TestVectors$", "register/silence.txtar"},
	}, {
		"a silence that is extended looks new", "protocol/group/silence.go",
		"		after.At = s.At\n", "",
		[]string{"./protocol/group ^TestVectors$", "register/silence.txtar"},
	}, {
		"a silence registers the shell", "cmd/dpl-register/main.go",
		"case c.spanGiven() != \"\":\n		return c.setSpan(env)",
		"case c.spanGiven() != \"\":\n		c.register(env)\n		return c.setSpan(env)",
		[]string{"register/silence.txtar"},
	}, {
		"a maintenance is a silence", "protocol/group/maintenance.go",
		"	if !s.Maintenance.On(now) {\n		return false\n	}\n	switch", "	if true {\n		return false\n	}\n	switch",
		[]string{"./protocol/group ^TestVectors$", "register/maintenance.txtar"},
	}, {
		"nobody can restart a service in maintenance", "protocol/group/restart.go",
		"		s.Maintenance = s.Maintenance.with(s.Maintenance.On(e.seen.Now))\n", "",
		[]string{"./protocol/group ^TestVectors$", "register/maintenance.txtar"},
	}, {
		"one restart ends a maintenance", "protocol/group/pass_act.go",
		"	s.Maintenance = s.Maintenance.with(false)\n\n	s.Notice.Readiness",
		"\n	s.Notice.Readiness",
		[]string{"./protocol/group ^TestVectors$", "register/maintenance.txtar"},
	}, {
		"a maintenance joins a set", "protocol/group/pass_sets.go",
		" || s.rests(p.seen.Now)", "",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"a set waits for a maintenance", "protocol/group/pass_sets.go",
		"if !p.judged[id].was.rests(p.seen.Now) {", "if true {",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"a maintenance ends a group", "protocol/group/pass_end.go",
		"case s.rests(p.seen.Now):", "case false:",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"a maintenance loses an exit record", "protocol/group/pass_ends.go",
		"if e.g.Registry.Services[i].rests(e.seen.Now) {", "if false {",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"those that wait for a maintenance alarm", "protocol/group/pass_act.go",
		" && !s.waitsForMaintenance() {", " {",
		[]string{"./protocol/group ^TestVectors$", "register/maintenance.txtar"},
	}, {
		"a forgotten maintenance looks new", "protocol/group/maintenance.go",
		"*m.Span.extended(by, d, now), Start", "*(*Span)(nil).extended(by, d, now), Start",
		[]string{"./protocol/group ^TestVectors$"},
	}, {
		"a maintenance is trouble", "protocol/group/silence.go",
		"	if s.Maintenance.On(now) {\n		return false\n	}\n", "",
		[]string{"./protocol/group ^TestVectors$", "register/maintenance.txtar"},
	}, {
		"the health of a service in maintenance is checked", "protocol/group/health.go",
		"		s.rests(seen.Now) ||\n", "",
		[]string{"./protocol/group ^TestVectors$"},
	},
}
