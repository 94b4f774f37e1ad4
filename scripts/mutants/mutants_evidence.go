package main

// operatedTests look for false answers about services that a real cron restarts.
const operatedTests = "./scripts/operated ^TestOperated$"

// evidence are bugs in what passes find out before they decide (spec/groups.md, §11.1 and §11.3;
// spec/supervision.md, §26.5): other machines, other starts, forecasts, and health checks.
var evidence = []mutant{
	{
		"another machine with this host id is not noticed", "protocol/group/pass.go",
		"	if g.TwoMachines(seen) {", "	if false {",
		[]string{policyVectors},
	}, {
		"a pass before this boot is of another machine", "protocol/group/pass.go",
		" || o.Heartbeat.Before(here.BootedAt):", ":",
		[]string{policyVectors},
	}, {
		"a pass in the future is of another machine", "protocol/group/pass.go",
		"age >= 0 && !observe.IsStale(age", "!observe.IsStale(max(age, 0)",
		[]string{policyVectors},
	}, {
		"a pass long ago is of another machine", "protocol/group/pass.go",
		"age >= 0 && !observe.IsStale(age, o.StalenessThreshold)", "age >= 0",
		[]string{policyVectors},
	}, {
		"a prompted pass changes failover", "protocol/group/pass.go",
		"	if p.Prompt == nil {\n		o.Failover", "	if true {\n		o.Failover",
		[]string{policyVectors},
	}, {
		"a second copy beside a start that lives", "protocol/group/pass_plan.go",
		"pid := p.kept(j.was.ID); pid != 0", "pid := p.kept(j.was.ID); pid < 0",
		[]string{policyVectors, "orchestrate/restored.txtar"},
	}, {
		"the keeper of the recorded start is another one", "cmd/internal/session/observe.go",
		"ok && of == service && id != startID", "ok && of == service",
		[]string{"orchestrate/survivors.txtar", "orchestrate/restored.txtar", "orchestrate/backoff.txtar"},
	}, {
		"a forecast without failover", "protocol/group/why.go",
		"Failover: g.Orchestrator.Failover,", "Failover: false,",
		[]string{policyVectors},
	}, {
		"no forecast of a removal", "protocol/group/why.go",
		"	why.Now = now\n	if s", "	if s := after.Service(id); s != nil {\n		why.Now = now\n	}\n	if s",
		[]string{policyVectors},
	}, {
		"a forecast without groups below", "protocol/group/why.go",
		"Exit: exits, Child: children}", "Exit: exits}",
		[]string{policyVectors},
	}, {
		"an end is noticed at once", "protocol/group/judge.go",
		"	if gone <= g.patience() {", "	if gone <= 0 {",
		[]string{"doctor/services.txtar"},
	}, {
		"an end is never noticed", "protocol/group/judge.go",
		"	if gone <= g.patience() {", "	if gone >= 0 {",
		[]string{"doctor/services.txtar"},
	}, {
		"a service is ready before its check", "protocol/group/judge.go",
		"s.Notice.Readiness.Ready() && !s.Unproven()", "s.Notice.Readiness.Ready()",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"a check that is added takes readiness away", "protocol/group/health.go",
		"s.hasCheck() && s.Health != nil && !s.Health.Passed", "s.hasCheck() && (s.Health == nil || !s.Health.Passed)",
		[]string{policyVectors},
	}, {
		"a check never stops a service", "protocol/group/health.go",
		"s.Health.Failures < s.StartInfo.Health.Usual().Failures", "true",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"failures count from the start", "protocol/group/health.go",
		"	grace := s.startsUp(seen)", "	grace := false && s.startsUp(seen)",
		[]string{policyVectors},
	}, {
		"failures never count before a success", "protocol/group/health.go",
		"	grace := s.startsUp(seen)", "	grace := !h.Passed",
		[]string{policyVectors},
	}, {
		"the second check waits for its interval", "protocol/group/health.go",
		"		every = min(every, healthAtStart)\n", "",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"a start is checked in each round", "protocol/group/health.go",
		"min(every, healthAtStart)", "0",
		[]string{policyVectors},
	}, {
		"a success forgets nothing", "protocol/group/health.go",
		`h.Passed, h.Failures, h.Output = true, 0, ""`, "h.Passed = true",
		[]string{policyVectors},
	}, {
		"a result of another start counts", "protocol/group/health.go",
		"!due || s.StartID != r.StartID", "!due",
		[]string{policyVectors},
	}, {
		"failures in one moment count", "protocol/group/health.go",
		"age >= every || age < 0", "true",
		[]string{policyVectors},
	}, {
		"the check of an earlier start is the last one", "protocol/group/health.go",
		" || last.At.Before(s.StartedAt) {", " {",
		[]string{policyVectors},
	}, {
		"a paused service is checked", "protocol/group/health.go",
		"s.Paused != nil || ", "",
		[]string{policyVectors},
	}, {
		"an unhealthy service comes before its clock", "protocol/group/pass_judge.go",
		"why != nil && over == nil", "why != nil",
		[]string{policyVectors},
	}, {
		"checks are remembered for ever", "protocol/group/pass.go",
		"	e.g.forgetChecks()\n", "",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"a check is a process of its service", "cmd/internal/orchestrator/health.go",
		"name != process.StartVariable && ", "",
		[]string{"orchestrate/health.txtar"},
	}, {
		"a check outlives its time", "cmd/internal/orchestrator/health.go",
		"context.WithTimeout(all, check.Timeout)", "context.WithTimeout(all, 1000*check.Timeout)",
		[]string{"orchestrate/health.txtar"},
	}, {
		"what a check leaves lives on", "cmd/internal/orchestrator/health.go",
		"		_ = cmd.Cancel() //", "		//",
		[]string{"orchestrate/health.txtar"},
	}, {
		"a check that is missing has failed", "cmd/internal/orchestrator/health.go",
		"case exit.ExitCode() == 126, exit.ExitCode() == 127:", "case false:",
		[]string{"./cmd/internal/orchestrator ^TestCheckResults$", "orchestrate/health.txtar"},
	}, {
		"a restart stops what a maintenance keeps from starting", "protocol/group/restart.go",
		"on != nil && on.Maintenance.On(now) &&", "on != nil && false && on.Maintenance.On(now) &&",
		[]string{policyVectors, "register/maintenance.txtar"},
	}, {
		"a migration that is done keeps a restart waiting", "protocol/group/restart.go",
		"(on.State != StateCompleted || slices.Contains(again, d))", "true",
		[]string{policyVectors},
	}, {
		"a check that cannot be run is no trouble", "protocol/group/silence.go",
		"return !runs || s.unchecked()", "return !runs",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"a check that cannot be run is trouble from the start", "protocol/group/health.go",
		"c.Trouble || !grace", "true",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"each check that cannot be run raises an alert", "protocol/group/health.go",
		"s.unchecked() && !told", "s.unchecked() && (told || !told)",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"a check that runs again stays one that cannot be run", "protocol/group/health.go",
		"	h.CannotRun = nil\n", "",
		[]string{policyVectors, "orchestrate/health.txtar"},
	}, {
		"a prompted pass runs checks", "cmd/internal/orchestrator/health.go",
		"if o.Unchecked || o.Prompt", "if o.Prompt",
		[]string{"orchestrate/health.txtar"},
	}, {
		"two passes run the same checks", "cmd/internal/orchestrator/health.go",
		"	if err != nil {\n		if !errors.Is(err, fileops.ErrBusy) {", "	if err != nil && !errors.Is(err, fileops.ErrBusy) {\n		if true {",
		[]string{"orchestrate/health.txtar"},
	}, {
		"all checks run at once", "cmd/internal/orchestrator/health.go",
		"range min(checksAtOnce, len(due))", "range len(due)",
		[]string{"./cmd/internal/orchestrator ^TestChecksAtOnce$"},
	}, {
		"a command starts a service twice", "protocol/group/pass_plan.go",
		"p.limit(p.once(p.admit(plan)))", "p.limit(p.admit(plan))",
		[]string{policyVectors},
	}, {
		"the time between rounds is that between passes", "protocol/group/pass.go",
		"if p.Started == nil {", "if true {",
		[]string{policyVectors, "orchestrate/rounds.txtar"},
	}, {
		"a round of the first command is the last", "cmd/internal/orchestrator/rounds.go",
		"round < most && o.earlier.continues(all)", "false && o.earlier.continues(all)",
		[]string{"orchestrate/rounds.txtar"},
	}, {
		"a group below makes no later round", "cmd/internal/orchestrator/rounds.go",
		" ||\n		slices.ContainsFunc(p.Children, r.continues)", "",
		[]string{"orchestrate/rounds.txtar"},
	}, {
		"a full disk ends a pass", "cmd/internal/orchestrator/orchestrator.go",
		"fileops.IsFull(err) && o.MakeRoom()", "false",
		[]string{"limits/full_disk_log.txtar"},
	}, {
		"a full disk ends a shutdown", "cmd/dpl-shutdown/main.go",
		"fileops.IsFull(err) && c.Unrecorded", "false",
		[]string{"limits/full_disk_log.txtar"},
	}, {
		"an unrecorded stop lets go of the lock", "cmd/internal/orchestrator/unrecorded.go",
		"time.Now().After(end)", "time.Now().After(end) || true",
		[]string{"limits/full_disk_log.txtar"},
	}, {
		"making room removes the newest file", "fileops/logs/shorten.go",
		"file.number > r.Keep", "file.number > 0",
		[]string{"./fileops/logs ^TestShorten$"},
	}, {
		"a log keeps more than its limit", "fileops/logs/shorten.go",
		"(info.Size-limit+disk.CutUnit-1)", "(info.Size-limit)",
		[]string{"./fileops/logs ^TestShorten$"},
	}, {
		"the metrics hide a death between passes", "cmd/internal/metrics/service.go",
		"s.State == group.StateRunning && !s.Dead()", "s.State == group.StateRunning",
		[]string{operatedTests},
	}, {
		"a death between passes still runs", "protocol/group/judge.go",
		"g.dead(s, seen) == \"\" && !g.ends[s.ID].unbegun && (", "!g.ends[s.ID].unbegun && (true || ",
		[]string{operatedTests, policyVectors},
	}, {
		"the page hides a death between passes", "cmd/internal/page/group.go",
		`pills(string(s.State), s.Judged(), "alive", "-")`, `pills(string(s.State), "-", "alive", "-")`,
		[]string{operatedTests},
	},
}
