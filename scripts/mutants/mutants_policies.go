package main

// policyVectors are the vectors of groups, and the walk over their verbs.
const policyVectors = "./protocol/group ^TestVectors$"

// startTests is where the tests of keepers and stages are.
const startTests = "./cmd/internal/process/start "

// policies are bugs in what follows an end (spec/supervision.md): limits, the end of a group,
// budgets, reports, pauses, preflight and finish commands, and passes at each end.
var policies = []mutant{
	{
		"a restart of a group runs its migrations again", "protocol/group/end.go",
		"		case requested && (s.State", "		case false && requested && (s.State",
		[]string{policyVectors, "restart/child_group.txtar"},
	}, {
		"a shutdown says nothing of another start that lives", "protocol/group/shutdown.go",
		"	return seen.Kept(g.ID, s.ID, s.StartID)", "	return 0",
		[]string{"./protocol/group ^TestOutlives$", "orchestrate/restored.txtar"},
	}, {
		"a pass that takes a group over runs its checks", "cmd/internal/orchestrator/health.go",
		"g.Registry.Owner != \"\" && g.Registry.Owner != o.Owner", "false",
		[]string{"orchestrate/health_wait.txtar"},
	}, {
		"a shutdown runs checks first", "cmd/dpl-shutdown/main.go",
		"		o.Unchecked = true", "		o.Unchecked = false",
		[]string{"orchestrate/health_wait.txtar"},
	}, {
		"a restart runs the checks of other services", "cmd/internal/orchestrator/health.go",
		"return o.CheckOnly != nil && ", "return false && o.CheckOnly != nil && ",
		[]string{"orchestrate/health_wait.txtar"},
	}, {
		"a forecast leaves out a health check that fails", "protocol/group/why.go",
		"range []bool{true, false} {", "range []bool{true} {",
		[]string{"./protocol/group ^TestWhy"},
	}, {
		"a service that has done its work is in trouble", "protocol/group/silence.go",
		"		return !s.DidItsWork()", "		return true",
		[]string{policyVectors, "status/completing.txtar"},
	}, {
		"a service whose finish command runs is in trouble", "protocol/group/pass_ends.go",
		"	case x.finishing != nil:", "	case false && x.finishing != nil:",
		[]string{"status/completing.txtar"},
	}, {
		"a pass takes a record that it cannot read for an unknown end", "protocol/group/pass_ends.go",
		"	case r.Unreadable:", "	case false && r.Unreadable:",
		[]string{policyVectors, "orchestrate/exit_record_unreadable.txtar"},
	}, {
		"a pass runs services although others can write exit records",
		"cmd/internal/orchestrator/start_files.go",
		"	if errors.Is(exits, fileops.ErrPermission) {",
		"	if false && errors.Is(exits, fileops.ErrPermission) {",
		[]string{"orchestrate/exit_record_unreadable.txtar"},
	}, {
		"a restart of all runs migrations again", "protocol/group/pass_ends.go",
		"	return s.State == StateCompleted || s.DidItsWork() ||", "	return s.DidItsWork() ||",
		[]string{policyVectors},
	}, {
		"a restart runs a migration again that has just ended", "protocol/group/pass_ends.go",
		"		if !j.gone || j.awaited {", "		if true || !j.gone || j.awaited {",
		[]string{policyVectors, "restart/ended_unseen.txtar"},
	}, {
		"a restart runs a migration again whose end is awaited", "protocol/group/pass_ends.go",
		"s.Restart != Permanent && e.g.ends[s.ID].awaited", "false && e.g.ends[s.ID].awaited",
		[]string{policyVectors},
	}, {
		"a shutdown stops a migration whose end is awaited", "protocol/group/pass_ends.go",
		"e.g.heard(s, e.seen) || e.g.ends[s.ID].awaited", "e.g.heard(s, e.seen)",
		[]string{policyVectors},
	}, {
		"a migration was stopped that had ended before", "protocol/group/pass_stop.go",
		"if f := j.endedBeforeStop(p.seen); f != nil {",
		"if f := j.endedBeforeStop(p.seen); false && f != nil {",
		[]string{policyVectors},
	}, {
		"a shutdown stops what has done its work", "protocol/group/shutdown.go",
		"	case s.State == StateCompleted, s.DidItsWork(),", "	case s.State == StateCompleted,",
		[]string{policyVectors},
	}, {
		"a shutdown forgets how a service failed", "protocol/group/edit.go",
		"	if s.told() {", "	if false && s.told() {",
		[]string{policyVectors},
	}, {
		"the first pass rotates all logs", "protocol/group/log.go",
		"	if last.IsZero() {", "	if false {",
		[]string{policyVectors},
	}, {
		"a clock that was set back rotates logs", "protocol/group/log.go",
		"last.Truncate(i.LogEvery).Before(now.Truncate(i.LogEvery))",
		"last.Truncate(i.LogEvery) != now.Truncate(i.LogEvery)",
		[]string{policyVectors},
	}, {
		"an empty log is rotated", "fileops/logs/rotate.go",
		"r.Due && size > 0", "r.Due",
		[]string{"./fileops/logs ^TestRotateLogDue$"},
	}, {
		"root cleans up in the ledger of another user", "fileops/trust/lock.go",
		"	if f.Foreign {", "	if f.Foreign && f.Shared {",
		[]string{"./testscripts ^TestScripts/^permissions$/^root_reads$"},
	}, {
		"an environment file replaces what --env gives", "protocol/group/environment_file.go",
		"i >= len(env) || isRecorded(v.Name)", "true",
		[]string{policyVectors},
	}, {
		"the first line of a name counts", "protocol/group/environment_file.go",
		"i >= len(env) || isRecorded(v.Name)", "isRecorded(v.Name)",
		[]string{policyVectors},
	}, {
		"an environment file names a start", "protocol/group/environment_file.go",
		"strings.HasPrefix(name, \"DPL_\")", "strings.HasPrefix(name, \"DPL-\")",
		[]string{policyVectors},
	}, {
		"a start that cannot succeed is tried again", "protocol/group/pass_class.go",
		" || e.Class == Terminal { // see", " { // see",
		[]string{policyVectors},
	}, {
		"every user may choose the variables", "cmd/internal/process/start/environment_unix.go",
		"info.Mode()&0o002 != 0 && info", "info.Mode()&0o002 == 1 && info",
		[]string{startTests + "^TestEnvironment$"},
	}, {
		"the link of another user chooses the variables",
		"cmd/internal/process/start/environment_unix.go",
		"		if err := checkOwner(next, info); err != nil {", "		if false {",
		[]string{startTests + "^TestEnvironmentOfOthers$"},
	}, {
		"an environment file may be written by a group",
		"cmd/internal/process/start/environment_unix.go",
		"info.Mode()&0o022 != 0", "info.Mode()&0o002 != 0",
		[]string{startTests + "^TestEnvironment$"},
	}, {
		"a missing environment file stays missing",
		"cmd/internal/process/start/environment_unix.go",
		"	return shortage{err}", "	return misfit{err}",
		[]string{startTests + "^TestEnvironment$"},
	}, {
		"the ledger does not name the environment file", "protocol/group/encode.go",
		"	w.OptString(\"environmentFile\", s.EnvironmentFile)\n", "",
		[]string{policyVectors},
	}, {
		"a finish command has no secrets", "cmd/internal/process/start/finish_linux.go",
		"	env, err := Environment(s.Env, s.EnvFile)", "	env, err := s.Env, error(nil)",
		[]string{"./testscripts ^TestScripts/^register$/^env_file$"},
	}, {
		"a service stands one end more", "protocol/group/pass_limits.go",
		"len(s.Restarts) > p.Intensity", "len(s.Restarts) > p.Intensity+1",
		[]string{policyVectors},
	}, {
		"a group stands one failure less", "protocol/group/pass_intensity.go",
		"len(restarts) > l.Intensity", "len(restarts) >= l.Intensity",
		[]string{policyVectors},
	}, {
		"failures count for ever", "protocol/group/pass_intensity.go",
		"	return slices.DeleteFunc(all, func(t time.Time) bool { return t.Before(from) })",
		"	return slices.DeleteFunc(all, func(t time.Time) bool { return t.After(from) && false })",
		[]string{policyVectors},
	}, {
		"a failure of the future counts", "protocol/group/pass_intensity.go",
		"		func(t time.Time) bool { return t.After(now) })",
		"		func(t time.Time) bool { return t.After(now) && false })",
		[]string{policyVectors},
	}, {
		"a set is charged for each service", "protocol/group/pass_intensity.go",
		"	if !v.Strategy.together() || len(all) == 0 {", "	if v.Strategy != \"\" || len(all) == 0 {",
		[]string{policyVectors},
	}, {
		"a group is charged for what asks to be tried later", "protocol/group/pass_intensity.go",
		"e != nil && e.charged() {", "e != nil {",
		[]string{policyVectors},
	}, {
		"a group delays what is not charged", "protocol/group/pass_intensity.go",
		" || s.LastExit == nil ||\n		!s.LastExit.charged() {", " || s.LastExit == nil {",
		[]string{policyVectors},
	}, {
		"a group does not mind who is dead", "protocol/group/pass_end.go",
		"p.judged[c.id].was.OnDead == OnDeadEscalate", "p.judged[c.id].was.OnDead == \"-\"",
		[]string{policyVectors},
	}, {
		"a group ends before all of it is over", "protocol/group/pass_end.go",
		"		case !s.State.Final():\n			rest = true\n", "",
		[]string{policyVectors},
	}, {
		"a group that loses a service has done its work", "protocol/group/pass_end.go",
		"			reason = EndMemberDead // it has not done what it was for\n", "			_ = reason\n",
		[]string{policyVectors},
	}, {
		"a temporary service was needed", "protocol/group/pass_end.go",
		"(dead || before) && s.Restart != Temporary", "(dead || before)",
		[]string{policyVectors},
	}, {
		"a group that ends starts again what stops", "protocol/group/pass_end.go",
		"		stays.StartAgain = false\n", "",
		[]string{policyVectors},
	}, {
		"a group has ended while something stops", "protocol/group/pass_end.go",
		"func(s Service) bool { return !s.State.Final() })",
		"func(s Service) bool { return !s.State.Final() && s.State != StateShuttingDown })",
		[]string{policyVectors},
	}, {
		"what an operator stopped is resumed", "protocol/group/end.go",
		"s.StartInfo == nil || s.StoppedBy != \"\" || s.RemoveAfterStop",
		"s.StartInfo == nil || s.RemoveAfterStop",
		[]string{policyVectors},
	}, {
		"a group resumes with its failures", "protocol/group/end.go",
		"v.End, v.Restarts, v.Parent = End{}, nil, Parent{}", "v.End, v.Parent = End{}, Parent{}",
		[]string{policyVectors},
	}, {
		"a budget is spent when it is reached", "protocol/group/budget.go",
		"s.Spent.Of(limit.Name) <= limit.N", "s.Spent.Of(limit.Name) < limit.N",
		[]string{policyVectors},
	}, {
		"a budget that restarts is dead", "protocol/group/budget.go",
		"		if b.Action == BudgetRestart {", "		if b.Action == \"-\" {",
		[]string{policyVectors},
	}, {
		"a budget asks at the end", "protocol/group/budget.go",
		"limit.N-spent <= limit.N/5", "limit.N-spent <= 0",
		[]string{policyVectors},
	}, {
		"a budget asks again and again", "protocol/group/budget.go",
		" && s.Asked.of(name) == nil {", " {",
		[]string{policyVectors},
	}, {
		"what was measured may fall", "protocol/group/budget.go",
		"a.N > s.Spent.Of(a.Name) && slices", "slices",
		[]string{policyVectors},
	}, {
		"a sum overflows", "protocol/group/spending.go",
		"	if spent > MostSpent-more {\n		return all.with(Amount{a.Name, MostSpent})\n	}\n", "",
		[]string{policyVectors},
	}, {
		"one name too many", "protocol/group/spending.go",
		"len(s.SpentTotal) > mostNames", "len(s.SpentTotal) > mostNames+1",
		[]string{policyVectors},
	}, {
		"a report about another start", "protocol/group/report.go",
		"		f.Starts != nil && !slices.Contains(f.Starts, s.StartID):",
		"		f.Starts != nil && !slices.Contains(f.Starts, s.StartID) && s.StartID == \"\":",
		[]string{policyVectors},
	}, {
		"a report about what is over", "protocol/group/report.go",
		"	case s.State.Final(), s.PID == 0", "	case s.PID == 0",
		[]string{policyVectors},
	}, {
		"the last rule counts", "protocol/group/violations.go",
		"	for _, r := range v.Rules {\n", "	for i := range v.Rules {\n		r := v.Rules[len(v.Rules)-1-i]\n",
		[]string{policyVectors},
	}, {
		"each rule is a beginning", "protocol/group/violations.go",
		"code == r.Match || open && strings", "code == r.Match || (open || !open) && strings",
		[]string{policyVectors},
	}, {
		"the first violations are kept", "protocol/group/violations.go",
		"all[max(len(all)-keptViolations, 0):]", "all[:min(len(all), keptViolations)]",
		[]string{policyVectors},
	}, {
		"a violation takes the place of a reason", "protocol/group/report.go",
		"cmp.Or(s.StopFor, &StopFor{", "cmp.Or(&StopFor{",
		[]string{policyVectors},
	}, {
		"a service is paused that does not run", "protocol/group/report.go",
		"	case action == RulePause && runs:", "	case action == RulePause:",
		[]string{policyVectors},
	}, {
		"a second violation does not keep the pause", "protocol/group/pause.go",
		"		s.Paused = s.Paused.continuing(false)\n", "",
		[]string{policyVectors},
	}, {
		"a pause costs runtime", "protocol/group/pause.go",
		"	s.PausedFor += min(paused, wire.Longest-s.PausedFor)\n", "	_ = paused\n",
		[]string{policyVectors},
	}, {
		"a budget asks in a pause", "protocol/group/pass_judge.go",
		"ended == nil && j.alive && j.was.Paused == nil:", "ended == nil && j.alive:",
		[]string{policyVectors},
	}, {
		"a pause is silence", "protocol/group/pause.go",
		"	if !s.LastHeartbeat.IsZero() {\n		s.Refresh(seen)\n	}\n", "",
		[]string{policyVectors},
	}, {
		"a preflight that asks for later is final", "protocol/group/pass_class.go",
		"e.Error != \"\" || e.Code == CodeExited && e.Status == 75", "e.Error != \"\"",
		[]string{policyVectors},
	}, {
		"a refused preflight is charged", "protocol/group/pass_class.go",
		"e.Class.charged() && e.Reason != ReasonPreflight", "e.Class.charged()",
		[]string{policyVectors},
	}, {
		"a preflight that refuses is none", "cmd/internal/process/start/preflight_unix.go",
		"status.Exited() && status.ExitStatus() == 0", "status.Exited()",
		[]string{"orchestrate/preflight.txtar"},
	}, {
		"a preflight without an end", "cmd/internal/process/start/preflight_unix.go",
		"time.AfterFunc(s.PreflightTimeout,", "time.AfterFunc(1000*s.PreflightTimeout,",
		[]string{"orchestrate/preflight.txtar"},
	}, {
		"a preflight leaves something", "cmd/internal/process/start/preflight_unix.go",
		"	unix.Kill(-pid, unix.SIGKILL) // what it has left must not run beside the command\n", "",
		[]string{startTests + "TestNothingIsLeftBeside$"},
	}, {
		"a finish command is told success", "cmd/internal/process/start/finish_linux.go",
		"strconv.Itoa(r.End.Status), \"DPL_EXIT_REASON", "strconv.Itoa(0), \"DPL_EXIT_REASON",
		[]string{startTests + "TestFinish$"},
	}, {
		"a finish command without an end", "cmd/internal/process/start/finish_linux.go",
		"time.AfterFunc(s.Latest,", "time.AfterFunc(1000*s.Latest,",
		[]string{startTests + "TestFinishTimedOut$"},
	}, {
		"a finish command leaves something", "cmd/internal/process/start/finish_linux.go",
		"	unix.Kill(-pid, unix.SIGKILL) // what it has left\n", "",
		[]string{startTests + "TestNothingIsLeftBeside$"},
	}, {
		"a finish command outlives its keeper", "cmd/internal/process/start/preflight_linux.go",
		", Pdeathsig: syscall.SIGKILL", "",
		[]string{startTests + "TestFinishKeeperKilled$"},
	}, {
		"a finish command that was killed has none", "cmd/internal/process/start/finish_linux.go",
		"	r.End.FinishStatus = group.FinishUnknown\n", "",
		[]string{startTests + "TestFinishKeeperKilled$"},
	}, {
		"a finish command after nothing", "cmd/internal/process/start/end_linux.go",
		"		unix.Unlinkat(r.dir, r.name, 0)\n		return false\n",
		"		r.finish(path)\n		unix.Unlinkat(r.dir, r.name, 0)\n		return false\n",
		[]string{startTests + "TestFinishNotBegun$"},
	}, {
		"an end is not awaited for its finish command", "protocol/group/pass_ends.go",
		"		patience += cmp.Or(s.StartInfo.FinishTimeout, DefaultFinishTimeout)\n", "",
		[]string{policyVectors},
	}, {
		"finish status 125 is an end like others", "protocol/group/pass_class.go",
		"	if e.FinishStatus == finishTerminal {", "	if e.FinishStatus == \"-\" {",
		[]string{policyVectors},
	}, {
		"an end that nobody knows is status 0", "protocol/group/pass_class.go",
		"	case e.Code == \"\":\n		return unknownEnd\n", "",
		[]string{policyVectors},
	}, {
		"an end without a record is status 0", "protocol/group/pass_ends.go",
		"		s.Starting = false // it has begun, so the start was not lost\n",
		"		s.Starting = false\n		s.tell(LastExit{At: e.seen.Now, Reason: Exited, Code: CodeExited})\n",
		[]string{policyVectors, "./scripts/faults TestKeepers$"},
	}, {
		"a record of another process", "protocol/group/exit_record.go",
		" && x.PID == s.PID &&\n		observe.Identity(x.PID, x.Process).Is(s.Identity())", "",
		[]string{policyVectors},
	}, {
		"a record that may change is taken", "protocol/group/pass_ends.go",
		" || r.gone != \"\" && !r.kept) &&", " || r.gone != \"\") &&",
		[]string{policyVectors},
	}, {
		"a record counts although its process lives", "protocol/group/pass_ends.go",
		" && !seen.Checks(s.Vitals):", ":",
		[]string{policyVectors},
	}, {
		"a shutdown is known only by the times", "protocol/group/pass_ends.go",
		"r.KeeperSignalled && !seen.SameBoot(r.Process)", "r.KeeperSignalled && r.gone == observe.Rebooted",
		[]string{policyVectors},
	}, {
		"a clock behind at boot makes a service stale", "protocol/observe/evidence.go",
		"age < -threshold:", "age < 2*-threshold:",
		[]string{policyVectors},
	}, {
		"a prompt takes over", "protocol/group/on_exit.go",
		"g.Registry.Owner != owner || ", "",
		[]string{policyVectors},
	}, {
		"a prompt for an orchestrator that has left", "protocol/group/on_exit.go",
		" || g.Orchestrator.State.left()", "",
		[]string{policyVectors},
	}, {
		"a child's prompt is that of a start", "protocol/group/on_exit.go",
		"	case p == Prompt{}:\n		return true\n", "",
		[]string{policyVectors},
	}, {
		"a prompt that was told to stop", "protocol/group/on_exit.go",
		"g.Registry.Supervision.OnExit == PassOnExit && s != nil", "s != nil",
		[]string{policyVectors},
	}, {
		"a prompt of an earlier start", "protocol/group/on_exit.go",
		"s != nil && s.StartID == p.StartID &&", "s != nil &&",
		[]string{policyVectors},
	}, {
		"a prompt after another pass", "protocol/group/on_exit.go",
		"		(s.State == StateRunning || s.State == StateShuttingDown || !s.TermSentAt.IsZero())",
		"		s.State != \"\"",
		[]string{policyVectors},
	}, {
		"a prompt is too late for a stop", "protocol/group/on_exit.go",
		"s.State == StateRunning || s.State == StateShuttingDown || !s", "s.State == StateRunning || !s",
		[]string{policyVectors},
	}, {
		"a prompt is too late for what is left", "protocol/group/on_exit.go",
		"s.State == StateShuttingDown || !s.TermSentAt.IsZero())", "s.State == StateShuttingDown)",
		[]string{policyVectors},
	}, {
		"a prompt does not see the end of a run", "protocol/group/on_exit.go",
		"(s.State == StateRunning || s.State", "(s.State",
		[]string{policyVectors},
	}, {
		"a keeper that was told to end makes a pass", "cmd/internal/process/start/end_linux.go",
		"	return r.complete() == nil && !signalled", "	return r.complete() == nil",
		[]string{startTests + "TestOnExitNot$"},
	}, {
		"a pass adopts what it starts", "cmd/internal/process/start/on_exit_linux.go",
		"unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == nil && unix", "unix",
		[]string{startTests + "TestOnExit$"},
	}, {
		"a pass is something that is left", "cmd/internal/process/start/on_exit_linux.go",
		"Setsid: true, Cloneflags: unix.CLONE_PARENT", "Setsid: true",
		[]string{startTests + "TestOnExitOrphan$"},
	}, {
		"a pass before all has ended", "cmd/internal/process/start/on_exit_linux.go",
		"	reapAll()\n	if told() {", "	if told() {",
		[]string{startTests + "TestOnExitOrphan$"},
	}, {
		"a pass although the keeper is told to end", "cmd/internal/process/start/on_exit_linux.go",
		"	if told() {\n		return\n	}\n", "",
		[]string{startTests + "TestOnExitNot$"},
	}, {
		"each start that a shortage prevents is told", "protocol/group/pass_short.go",
		"	case v.Short == \"\":\n", "	default:\n",
		[]string{policyVectors},
	}, {
		"a stage that died before its command counts as started", "cmd/internal/process/start/gate.go",
		"	case !begins:\n", "	case !begins && short:\n",
		[]string{startTests + "TestGateEnds$"},
	},
}
