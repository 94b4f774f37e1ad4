package main

import "slices"

// hardUse returns bugs that hard use of the first version has found, each as small as it can be.
func hardUse() []mutant {
	return slices.Concat(dataLoss, wrongVerdicts, graces, services, keepers, links, sets, queues, checks,
		policies, simulated, firstMinutes, security, pipes, runs, seeds,
		alerting, evidence, rules)
}

// dataLoss deletes, or commits, what nobody has asked for.
var dataLoss = []mutant{
	{
		"an empty word is the working directory", "cmd/internal/cli/words.go",
		"return cmp.Or(notEmpty(s), CheckText(s))", "return CheckText(s)",
		[]string{"./testscripts TestEmptyWords"},
	}, {
		"an empty path is the working directory", "cmd/internal/cli/words.go",
		"	*p = Path(text)\n	return notEmpty(string(text))", "	*p = Path(text)\n	return nil",
		[]string{"./testscripts TestEmptyWords"},
	}, {
		"an empty program is run", "cmd/internal/cli/words.go",
		"len(arguments) > 0 && arguments[0] == \"\"", "len(arguments) > 9 && arguments[0] == \"\"",
		[]string{"./testscripts TestEmptyWords"},
	}, {
		"a root may be anything", "cmd/internal/cli/newledger.go",
		"		err = env.CheckRoots(roots...)\n", "		err = env.CheckRoots()\n",
		[]string{"resources/outside_roots.txtar"},
	}, {
		"a resource may contain a home", "fileops/resource/rules.go",
		"		err = r.spare(root, name)\n", "",
		[]string{"./fileops TestWhatAResourceContains"},
	}, {
		"another operation's directory as resource", "fileops/resource/rules.go",
		"case !Within(filepath.Dir(path), r.OperationTmp(op)):", "case !Within(path, r.TmpRoot()):",
		[]string{"./fileops TestTmpOfOtherOperations"},
	}, {
		"a stopped process is stale", "cmd/internal/process/identity_linux.go",
		"	if p.PidfdInode != 0 {\n",
		"	if Stopped(p) {\n		return observe.Unseen\n	}\n	if p.PidfdInode != 0 {\n",
		[]string{"alive/process.txtar"},
	}, {
		"another inode does not matter", "protocol/observe/process.go",
		"	if p.PidfdInode == 0 || q.PidfdInode == 0 {", "	if true {",
		[]string{"./protocol ^TestVectors$", "./protocol/group ^TestVectors$"},
	}, {
		"an unknown inode is another", "protocol/observe/process.go",
		"	if p.PidfdInode == 0 || q.PidfdInode == 0 {", "	if false {",
		[]string{"./protocol ^TestVectors$", "./protocol/group ^TestVectors$"},
	}, {
		"any inode will do", "cmd/internal/process/pidfd_linux.go",
		"found == p.PidfdInode && ", "found != 0 && ",
		[]string{"./cmd/internal/process ^TestOtherInode$"},
	}, {
		"a forked child pops its parent's call", "scripts/clients/dpl.py",
		"        if os.getpid() != self._pid:\n            owner",
		"        if False:\n            owner",
		[]string{"./scripts/clients TestClients/python/(forks|child_leaves)$"},
	}, {
		"--now commits", "cmd/internal/cli/env.go",
		"env.flags.Now.IsZero() || os.Getenv(\"DPL_REPLAY\") == \"1\"",
		"true || os.Getenv(\"DPL_REPLAY\") == \"1\"",
		[]string{"usage/now_changes_nothing.txtar"},
	},
}

// wrongVerdicts say of an operation, a call or a command what is not so.
var wrongVerdicts = []mutant{
	{
		"dpl-run ends well in a failed operation", "cmd/dpl-run/call.go",
		"	return !byPop\n", "	return byPop && !byPop\n",
		[]string{"run/statuses.txtar"},
	}, {
		"dpl-run gives up while others hold the lock", "cmd/dpl-run/retry.go",
		"		if !errors.Is(err, fileops.ErrBusy) {\n			return variables",
		"		if !errors.Is(err, fileops.ErrBusy) || err != nil {\n			return variables",
		[]string{"run/own_failure.txtar"},
	}, {
		"a heartbeat at every look", "cmd/dpl-run/beats.go",
		"needed := b.asked || cleaning || !now.Before(b.heart)", "needed := true",
		[]string{"./testscripts TestManyIdleCalls"},
	}, {
		"heartbeats as often however many calls", "protocol/pace.go",
		"	return max(pace, live*share)\n", "	return max(pace, 0*live*share)\n",
		[]string{"./protocol TestPace"},
	}, {
		"rare heartbeats in a container", "protocol/pace.go",
		"seen.Host.PIDNamespace != observe.FirstPIDNamespace", "false",
		[]string{"./protocol TestPace"},
	}, {
		"a call that lives is stale", "protocol/observe/evidence.go",
		"	return v.Heartbeats || seen.presence(v.Identity()) != Present\n",
		"	return v.Heartbeats || seen.presence(v.Identity()) >= 0\n",
		[]string{"./protocol TestVectors/^cleanup-process-lives$"},
	}, {
		"a command continues the outer span", "protocol/operation.go",
		"c.In(trace.SpanID(op.ID, call, f.StartTime)).String()", "c.String()",
		[]string{"./protocol TestVectors/^push-joins-trace$", "trace/tree.txtar"},
	}, {
		"siblings in a chain", "protocol/callers.go",
		"	if !op.namesCallers() {", "	if op.namesCallers() || true {",
		[]string{"./protocol TestCallers"},
	}, {
		"dpl-run forgets its caller", "cmd/internal/cli/push.go",
		"	if own != \"\" && own != op || wire.CheckID(caller) != nil {",
		"	if own != \"\" || wire.CheckID(caller) != nil {",
		[]string{"push/callers.txtar"},
	}, {
		"a command's 3 is taken for Aborted", "scripts/clients/dpl.py",
		"        if account[\"by\"] != \"command\":\n",
		"        if account[\"by\"] != \"command\" or child.returncode in ERRORS:\n",
		[]string{"./scripts/clients TestClients/python/call_exits"},
	}, {
		"a command's 3 is taken for Aborted by Node", "scripts/clients/dpl.mjs",
		"    if (account.by !== \"command\") {",
		"    if (account.by !== \"command\" || status < 6) {",
		[]string{"./scripts/clients TestClients/node/call_exits"},
	}, {
		"--status-fd says always dpl-run", "cmd/dpl-run/account.go",
		"		by = \"command\"\n", "		by = \"dpl-run\"\n",
		[]string{"run/status_fd.txtar"},
	}, {
		"SIGPIPE is always a failure", "cmd/dpl-run/account.go",
		"	case ok[e.exit()&0xff]:\n", "	case ok[e.Code&0xff] && e.Signal == 0:\n",
		[]string{"run/ok.txtar"},
	}, {
		"how a service died is thrown away", "cmd/dpl-run/registration.go",
		"	if exit.Code == \"\" && e.cause == \"\" {",
		"	if exit.Code == \"\" || e.cause == \"\" {",
		[]string{"run/group_last_exit.txtar"},
	},
}

// services are restarted, shown, logged and ended as the first version did.
var services = []mutant{
	{
		"what has left the group survives", "cmd/dpl-run/stop.go",
		"	strays := r.job.Strays()\n	said",
		"	strays := r.job.Strays()[:0]\n	said",
		[]string{"run/daemon.txtar"},
	}, {
		"a restart stops alone", "protocol/group/restart.go",
		"slices.Contains(family, id) && s.State == StateRunning &&",
		"only && slices.Contains(family, id) && s.State == StateRunning &&",
		[]string{"./protocol/group TestVectors/^restart-"},
	}, {
		"a restart waits for the backoff", "protocol/group/restart.go",
		"	case StateRegistered, StateWaiting:\n		return\n	case StateRunning:",
		"	case StateRegistered, StateWaiting, StateScheduled:\n		return\n	case " +
			"StateRunning:",
		[]string{"./protocol/group TestVectors/^restart-scheduled$"},
	}, {
		"a restart stops what nobody can start", "protocol/group/restart.go",
		"		if d, state := e.before.blocker(s, again); d != \"\" {",
		"		if d, state := e.before.blocker(s, again); d == \"-\" {",
		[]string{"./protocol/group TestVectors/^restart-blocked"},
	}, {
		"a changed command is taken in silence", "protocol/group/group.go",
		"return s.State == StateRunning && s.StartedWith != nil",
		"return s.State != StateRunning && s.StartedWith != nil",
		[]string{"register/outdated_command.txtar"},
	}, {
		"JSON of a group without logs", "cmd/dpl-status/json.go",
		"start.Policy.MaxAttempts, cli.OrNull(s.Log())", "start.Policy.MaxAttempts, nil",
		[]string{"status/group_json.txtar"},
	}, {
		"logs grow for ever", "fileops/logs/rotate.go",
		"	if err != nil || !r.wants(info.Size) {\n		return false, err",
		"	if err != nil || info.Size > 0 {\n		return false, err",
		[]string{"./fileops/logs TestRotateLog$"},
	}, {
		"more rotated files are kept than asked for", "fileops/logs/parts.go",
		"file.number <= keep && last < keep", "file.number <= keep && last <= keep",
		[]string{"./fileops/logs TestRotateLog$"},
	}, {
		"files behind a gap in the numbers of a log move", "fileops/logs/parts.go",
		"last = max(file.number, last+1)", "last = file.number + 1",
		[]string{"./fileops/logs TestRotateLogKeepsAll"},
	}, {
		"a log is read up to a gap in its numbers", "fileops/logs/parts.go",
		"const mostMissing = 1", "const mostMissing = 0",
		[]string{"./fileops/logs TestReadLogWithGap"},
	}, {
		"the newest rotated file is compressed", "fileops/logs/compress.go",
		"file.number == 1 || file.compressed", "file.compressed",
		[]string{"./fileops/logs TestCompress$"},
	}, {
		"a plain file goes although it cannot be compressed", "fileops/logs/compress.go",
		"		if packed && err == nil {\n			err =", "		if packed {\n			_ =",
		[]string{"./fileops/logs TestCompressWithoutRoom"},
	}, {
		"a log that is written to is compressed", "fileops/logs/compress.go",
		"	if info.ID == log && log", "	if info.ID == log && log == (disk.FileID{}) && log",
		[]string{"./fileops/logs TestCompressNotTheLog"},
	}, {
		"an inode tells which rotated file it is", "fileops/logs/compress.go",
		"device, inode, info.ModTime.UnixNano())", "device, inode, 0*info.ModTime.UnixNano())",
		[]string{"./fileops/logs TestFollowCompressed"},
	}, {
		"a follower does not know what was compressed", "fileops/logs/read.go",
		"err != nil || origin == r.newest", "err != nil || origin == r.newest+r.newest",
		[]string{"./fileops/logs TestReadLog$"},
	}, {
		"a file counts twice while it is compressed", "fileops/logs/parts.go",
		"err != nil || origin == files[last].id", "err != nil || origin == origin+files[last].id",
		[]string{"./fileops/logs TestRotateLogKilled"},
	}, {
		"a compressed file is taken for a copy of any with its number", "fileops/logs/parts.go",
		"err != nil || origin == files[last].id", "err != nil || origin != files[last].id+origin",
		[]string{"./fileops/logs TestCompressBesideOlderPasses"},
	}, {
		"a damaged file of a log hides the others", "fileops/logs/read.go",
		"	if errors.Is(err, wire.ErrCorrupt) {\n		r.damaged",
		"	if errors.Is(err, wire.ErrNewerVersion) {\n		r.damaged",
		[]string{"./fileops/logs TestReadDamaged"},
	}, {
		"what a killed compression has written stays", "fileops/logs/remove.go",
		"name == nextCompressed || ", "name == nextCompressed+next || ",
		[]string{"./fileops/logs TestRemove$"},
	}, {
		"a killed compression waits for the next rotation", "fileops/logs/rotate.go",
		" || g.FS.Exists(layout.NextCompressedOf(g.Path))\n", "\n",
		[]string{"orchestrate/logs_compress.txtar"},
	}, {
		"compressed logs belong to nobody", "fileops/layout/parse.go",
		"strings.CutSuffix(number, gzipSuffix)", "number, false",
		[]string{"./fileops/layout TestRotatedLog"},
	}, {
		"passes compress no log", "cmd/internal/orchestrator/logs.go",
		"Compress: s.StartInfo.LogCompress}", "Compress: false && s.StartInfo.LogCompress}",
		[]string{"orchestrate/logs_compress.txtar"},
	}, {
		"--log-compress=false compresses logs", "cmd/dpl-register/register.go",
		"s.LogCompress = c.LogCompress", "s.LogCompress = true",
		[]string{"orchestrate/logs_compress.txtar"},
	}, {
		"--log-compress changes no service that has a command", "protocol/group/register.go",
		"		s.LogCompress == t.LogCompress && ", "		",
		[]string{policyVectors},
	}, {
		"a damaged log ends well", "cmd/dpl-status/log.go",
		"!follow && i == len(all)-1", "!follow && i == len(all)",
		[]string{"orchestrate/logs_compress.txtar"},
	}, {
		"a rotation truncates", "fileops/logs/rotate.go",
		"		err = r.file.Cut(cut)\n	}\n	if errors.Is",
		"		err = r.file.Truncate(0)\n	}\n	if errors.Is",
		[]string{"./fileops/logs TestRotateLog$"},
	}, {
		"whatever is the stdout of a service is its log", "fileops/logs/held.go",
		"	return device == h.Device && inode == h.Inode\n", "	return device+inode != 0\n",
		[]string{"./fileops/logs TestNotHeld$"},
	}, {
		"a cut is output", "cmd/internal/silence/output.go",
		"			o.last[i] = info\n		}\n	}\n	return err", "			_ = info\n		}\n	}\n	return err",
		[]string{"./cmd/internal/silence TestCut$"},
	}, {
		"a reboot is a crash", "protocol/group/pass_fail.go",
		"j.evidence == observe.Rebooted && s.Restartable",
		"j.evidence == observe.Rebooted && s.Starting && s.Restartable",
		[]string{"./protocol/group TestVectors/^pass-reboot"},
	}, {
		"the environment is that of the pass", "cmd/internal/orchestrator/processes.go",
		"	for _, v := range s.StartInfo.Environment {",
		"	for _, v := range s.StartInfo.Environment[:0] {",
		[]string{"orchestrate/start_in_own_session.txtar"},
	}, {
		"PWD is that of the pass", "cmd/internal/orchestrator/processes.go",
		"		\"PWD=\" + s.StartInfo.Dir,\n", "		\"PWD=\" + o.Ledger.Dir(),\n",
		[]string{"orchestrate/start_in_own_session.txtar"},
	}, {
		"passes come every 1s", "cmd/dpl-orchestrate/pass.go",
		"period.Round(100*time.Millisecond)", "period.Round(time.Second)",
		[]string{"orchestrate/every_too_rarely.txtar"},
	}, {
		"passes leave temporary files", "cmd/internal/orchestrator/orchestrator.go",
		"o.Ledger.SweepGroup(o.Group); leftErr != nil", "error(nil); leftErr != nil",
		[]string{"orchestrate/files_of_killed_passes.txtar"},
	}, {
		"an attempt after the year 9999", "protocol/wire/time.go",
		"t.Year() > 9999 {\n		t =", "t.Year() > 99999 {\n		t =",
		[]string{"./protocol/group TestVectors/^pass-scheduled-last-moment$"},
	},
}

// firstMinutes are messages and limits that leave a beginner alone.
var firstMinutes = []mutant{
	{
		"an inherited $DPL_OP is not named", "cmd/internal/cli/inherited.go",
		"		if !env.inherited || !errors.Is(err, over) {",
		"		if env.inherited || !errors.Is(err, over) {",
		[]string{"usage/inherited_op.txtar"},
	}, {
		"dpl-status is silent about $DPL_OP", "cmd/internal/cli/inherited.go",
		"	if err == nil && (len(ids) > 1 ||", "	if err != nil && (len(ids) > 1 ||",
		[]string{"usage/inherited_op.txtar"},
	}, {
		"an operation that is over has no cure", "cmd/internal/cli/status.go",
		"	{fileops.ErrArchived, StatusOver, reuse},",
		"	{fileops.ErrArchived, StatusOver, \"\"},",
		[]string{"usage/inherited_op.txtar"},
	}, {
		"a threshold needs an interval", "protocol/observe/beat.go",
		"	return min(interval, max((threshold/3)", "	return max(interval, max((threshold/3)",
		[]string{"usage/durations.txtar"},
	}, {
		"a day is no duration", "cmd/internal/cli/duration.go",
		"{\"w\", 7 * 24}, {\"d\", 24}", "{\"w\", 7 * 24}, {\"D\", 24}",
		[]string{"./cmd/internal/cli TestDays"},
	}, {
		"a script needs #!", "cmd/internal/process/script.go",
		"		if !isText(path) {", "		if isText(path) {",
		[]string{"./cmd/internal/process/job TestScriptWithoutInterpreter"},
	}, {
		"a missing interpreter is not named", "cmd/internal/process/script.go",
		"if name := interpreter(path); name != \"\" {",
		"if name := interpreter(path); name == \"?\" {",
		[]string{"./cmd/internal/process/job TestMissingInterpreter"},
	}, {
		"permission denied without a cure", "cmd/internal/cli/inherited.go",
		"errors.Is(err, fs.ErrPermission) && env.isOfLedger(path.Path)",
		"errors.Is(err, fs.ErrPermission) && !env.isOfLedger(path.Path)",
		[]string{"permissions/other_user.txtar"},
	}, {
		"escapes of an argument reach the terminal", "cmd/internal/cli/cli.go",
		"harmless.Text(env.Program), harmless.Text(message))",
		"harmless.Text(env.Program), message)",
		[]string{"output/raw_text.txtar"},
	}, {
		"escapes of a warning reach the terminal", "cmd/internal/cli/cli.go",
		"harmless.Text(fmt.Sprintf(format, args...)))", "fmt.Sprintf(format, args...))",
		[]string{"output/raw_text.txtar"},
	}, {
		"an obeyed U+009B", "cmd/internal/harmless/harmless.go",
		"	return !ASCII && unicode.In(r, unicode.L,", "	return r == 0x9b || unicode.In(r, unicode.L,",
		[]string{"./cmd/internal/harmless TestText"},
	}, {
		"invisible letters are drawn", "cmd/internal/harmless/harmless.go",
		"		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)",
		"		unicode.In(r, unicode.Variation_Selector)",
		[]string{"./cmd/internal/harmless TestText"},
	}, {
		"an escape is drawn like a text that looks like it", "cmd/internal/harmless/harmless.go",
		"				!(r == '\\\\' && looksEscaped(rest)))", "				true)",
		[]string{"./cmd/internal/harmless FuzzText"},
	}, {
		"letters of another script in a word", "cmd/internal/harmless/word.go",
		"shown = s == common || s == most", "shown = true || s == most",
		[]string{"./cmd/internal/harmless TestText"},
	}, {
		"a mark stays on a letter that is not drawn", "cmd/internal/harmless/word.go",
		"mixed > 1 && (shown || !hangs)", "mixed > 1 && (shown || hangs || !hangs)",
		[]string{"./cmd/internal/harmless TestText"},
	}, {
		"any number of marks on a letter", "cmd/internal/harmless/word.go",
		"0 <= marks && marks < mostMarks", "0 <= marks && marks < mostMarks*1000",
		[]string{"./cmd/internal/harmless TestText"},
	}, {
		"a joiner in every word", "cmd/internal/harmless/word.go",
		"usesJoiners(before) && usesJoiners(after):", "(usesJoiners(before) || inWord(after)):",
		[]string{"./cmd/internal/harmless TestText"},
	}, {
		"a hook gets what nobody sees", "cmd/internal/hook/hook.go",
		"strings.NewReader(harmless.JSON(alert) + \"\\n\")", "strings.NewReader(harmless.JSON(\"\") + alert + \"\\n\")",
		[]string{"./cmd/internal/hook TestRunDraws"},
	}, {
		"a wide line goes on without a margin", "cmd/internal/view/quote.go",
		"			margin = further", "			margin = \"\" + further[:0]",
		[]string{"./cmd/internal/view FuzzQuote"},
	}, {
		"a wide line goes on like a new one", "cmd/internal/view/quote.go",
		"			margin = further", "			margin = s.margin() + further[:0]",
		[]string{"./cmd/internal/view TestQuote"},
	}, {
		"wide characters count as narrow", "cmd/internal/view/quote.go",
		"return max(wide.RuneWidth(r), 1)", "return min(wide.RuneWidth(r), 1)",
		[]string{"./cmd/internal/view TestQuote"},
	}, {
		"a long string pushes the short members away", "cmd/internal/view/request.go",
		"		if len(drawn) == 1 {", "		if len(drawn) < 1 {",
		[]string{"./cmd/internal/view TestQuestion"},
	}, {
		"lines of a string look like members", "cmd/internal/view/request.go",
		"indent+\"  \"+d.margin+line", "indent+\"  \"+d.margin[:0]+line",
		[]string{"./cmd/internal/view TestQuestion"},
	}, {
		"what is no command is left out", "cmd/internal/view/request.go",
		"		return text(v) == d.request.Shell && d.request.Shell != \"\"", "		return d.request.Shell != \"\"",
		[]string{"./cmd/internal/view TestQuestion"},
	}, {
		"a letter is a yes to any length", "cmd/dpl-answer/inbox.go",
		"const most = 200 // lines", "const most = 200_000 // lines",
		[]string{"./testscripts TestTerminalInboxLong"},
	}, {
		"the word alone is a yes to a later question", "cmd/dpl-answer/inbox.go",
		"	if first {\n		return letter", "	if first || long {\n		return letter",
		[]string{"./testscripts TestTerminalInboxLong"},
	}, {
		"nobody says that a question is above the screen", "cmd/dpl-answer/inbox.go",
		"case lines >= height:", "case lines >= 10*height:",
		[]string{"./testscripts TestTerminalInboxLong"},
	}, {
		"a choice on a page is not what is drawn", "cmd/internal/page/trouble_task.go",
		"|| choice != harmless.Text(choice) {", "|| harmless.Text(choice) == \"\" {",
		[]string{"./cmd/internal/page TestTaskTroubles"},
	}, {
		"names of members in a format", "cmd/dpl-status/format.go",
		"object[harmless.Text(name)]", "object[name]",
		[]string{"status/format.txtar"},
	}, {
		"a umask of 0777 shuts out its owner", "cmd/internal/process/umask_unix.go",
		"unix.Umask(mask &^ owner)", "unix.Umask(mask | 0*owner)",
		[]string{"permissions/umask.txtar"},
	}, {
		"made-up ids are told to a closed stdout", "cmd/dpl-push/main.go",
		"c.MadeUp() && entry.Closed(1) && !env.DryRun()",
		"c.MadeUp() && entry.Closed(1) && env.DryRun()",
		[]string{"push/closed_stdout.txtar"},
	}, {
		"too little address space is a trace", "cmd/internal/entry/entry_linux_amd64.s",
		"	JCS	refuse\n", "	JCS	begin\n",
		[]string{"limits/address_space.txtar"},
	}, {
		"a page for everybody", "cmd/dpl-status/file.go",
		"forOwner fs.FileMode = 0o600", "forOwner fs.FileMode = 0o644",
		[]string{"status/html.txtar"},
	}, {
		"nobody is told the cause", "cmd/dpl-run/failure.go",
		"op.ID, f.Why(), op.ID)",
		"op.ID, op.State, op.ID)",
		[]string{"run/stopped_by_operation.txtar"},
	}, {
		"dpl-status without groups", "cmd/dpl-status/runs.go",
		"view.Listing{Groups: p.groups,",
		"view.Listing{Groups: p.groups[:0],",
		[]string{"status/groups.txtar"},
	}, {
		"a green group with a dead service", "cmd/internal/page/group.go",
		"	if n := g.Troubled(); n > 0 {\n		s.Mood = \"bad\"",
		"	if n := g.Troubled(); n > 0 {\n		s.Mood = \"good\"",
		[]string{"status/group_json.txtar"},
	}, {
		"a timeline without its root", "cmd/internal/page/lanes.go",
		"		case callers[i] < 0:\n			l.weight = root\n",
		"		case callers[i] < 0:\n			l.weight = ended\n",
		[]string{"./cmd/internal/page TestManyLanes"},
	}, {
		"a crashed call that is folded with its caller", "cmd/internal/page/tree.go",
		"		loud := line.Kinds()[inTrouble]", "		loud := line.kind == inTrouble",
		[]string{"./cmd/internal/page TestFolding"},
	}, {
		"a halt whose owner is a command", "cmd/internal/view/command.go",
		"		if isSpecial(word) {", "		if isSpecial(\"\") && word == \"\" {",
		[]string{"./cmd/internal/view TestCommand"},
	}, {
		"a terminal without echo", "cmd/internal/screen/keyboard.go",
		"		k.before.set(k.fd)\n", "",
		[]string{"./testscripts TestStatusKeys"},
	}, {
		"30m 1h 90m", "cmd/internal/cli/duration.go",
		"	if hours, ok := strings.CutSuffix(rest, \"h0m\"); ok {",
		"	if hours, ok := strings.CutSuffix(rest, \"h9m\"); ok {",
		[]string{"./cmd/internal/cli TestBrief"},
	}, {
		"the fast lane knows no defaults", "cmd/internal/cli/fast_lane.go",
		"	word := f.tag.Get(\"default\")", "	word := \"\"",
		[]string{"./cmd/dpl-pop FuzzLanes"},
	}, {
		"the fast lane does without what is required", "cmd/internal/cli/fast_lane.go",
		"	return !has(f.tag, \"required\")", "	return true",
		[]string{"./cmd/dpl-pop FuzzLanes"},
	}, {
		"an empty variable is a word", "cmd/internal/cli/scope.go",
		"		if os.Getenv(v) != \"\" {", "		if v != \"\" {",
		[]string{"./cmd/internal/cli TestRuns"},
	}, {
		"a variable counts in any group", "cmd/internal/cli/scope.go",
		"all.value(owner) == os.Getenv(variables.Of(owner)) &&", "",
		[]string{"./cmd/dpl-shutdown TestVariables"},
	}, {
		"an operation of the environment beside a queue", "cmd/internal/cli/scope.go",
		"			about = true\n", "			about = false\n",
		[]string{"./cmd/dpl-wait TestVariables"},
	}, {
		"--why in camelCase", "cmd/dpl-status/question.go",
		"			name += \" \"\n", "			name += \"\"\n",
		[]string{"status/questions.txtar"},
	}, {
		"only dpl-push creates it", "cmd/internal/cli/status.go",
		"\"dpl-push, dpl-run or dpl-register creates it", "\"dpl-push creates it",
		[]string{"usage/durations.txtar"},
	},
}

// security lets others, or numbers in files, decide. None of it may signal processes that are not
// of its test: the keeper, and what signals survivors, would end all that the user has.
var security = []mutant{
	{
		"directories through links", "fileops/disk/dirs_unix.go",
		"unix.AT_SYMLINK_NOFOLLOW, flags|unix.O_NOFOLLOW", "0, flags",
		[]string{"./fileops TestLinkedDirectories"},
	}, {
		"directories by path", "fileops/open.go",
		"	l.fs.FS = l.fs.Within(l.Dir(), l.checkDir)\n", "",
		[]string{"./fileops TestSwappedDirectories"},
	}, {
		"directories of anybody", "fileops/open.go",
		"	l.fs.FS = l.fs.Within(l.Dir(), l.checkDir)\n",
		"	l.fs.FS = l.fs.Within(l.Dir(), func(string, disk.Info) error { return nil })\n",
		[]string{"./fileops TestUntrustedDirectories"},
	}, {
		"ledgers of anybody", "fileops/open.go",
		"	return l.checkOwner(info)\n", "	return nil\n",
		[]string{"permissions/other_owner.txtar"},
	}, {
		"files through links", "fileops/disk/os_unix.go",
		"flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode", "flags|unix.O_CLOEXEC, mode",
		[]string{"./fileops TestSymlinkedFilesAreRefused"},
	}, {
		"a pruned archive forgets the last hour", "fileops/archive.go",
		"return young || k.completed <= keepCopies, nil", "return k.completed <= keepCopies, nil",
		[]string{"./fileops TestPruneArchive$"},
	}, {
		"a pruned archive forgets failures", "fileops/archive.go",
		"return young || age < keepFailedFor && k.failed <= keepFailed, nil", "return young, nil",
		[]string{"./fileops TestPruneArchiveKeepsFailures"},
	}, {
		"a start by a part of its id", "cmd/internal/process/environment_linux.go",
		"	return slices.Contains(strings.Split(ids, \",\"), id)",
		"	return slices.Contains(strings.Split(ids, \",\"), id) || strings.Contains(ids, id)",
		[]string{"./cmd/internal/process TestSurvivors$"},
	}, {
		"a keeper finds nothing", "cmd/internal/process/environment_linux.go",
		"	return listsID(ids, id), certain", "	return id == \"\" && listsID(ids, id), certain",
		[]string{"./cmd/internal/process/job TestKeeperByID"},
	}, {
		"nothing has changed after a commit", "cmd/internal/cli/status.go",
		"|| !env.Committed() || !saysUnchanged(", "|| env.Committed() || !saysUnchanged(",
		[]string{"./cmd/internal/cli TestAfterCommits"},
	}, {
		"an alert that was given is not noted", "cmd/internal/orchestrator/orchestrator.go",
		"	o.Env.NoteCommit()\n", "",
		[]string{"output/status_after_commit.txtar"},
	}, {
		"a killed pop leaves its directory", "fileops/effects.go",
		"		e.ledger.recordLeftover(errors.Join(err, e.discardSpent(spent)))",
		"		e.ledger.recordLeftover(errors.Join(err, e.discardSpent(spent[:0])))",
		[]string{"./fileops TestSpentTmp$"},
	}, {
		"a page of the year 9999", "cmd/internal/page/timeline.go",
		"	for total/step >= most {\n		step *= 2\n	}\n", "",
		[]string{"./cmd/internal/page TestTicksOfCenturies"},
	}, {
		"a new directory that was swapped", "fileops/trust/write.go",
		"		case !info.Mode.IsDir() || info.UID != f.UID:", "		case !info.Mode.IsDir():",
		[]string{"./fileops TestNewDirectoryOfAnother"},
	}, {
		"a planted scratch link", "fileops/sweep.go",
		"	if err != nil || !info.Mode.IsDir() ||", "	if err != nil ||",
		[]string{"./fileops TestSweepScratchLink"},
	}, {
		"doctor trusts what others wrote", "cmd/dpl-doctor/permissions.go",
		"	return p.survey.Ours(f) && (", "	return p.survey.Ours(f) || (",
		[]string{"doctor/fix.txtar"},
	}, {
		"the longest interval overflows", "cmd/internal/cli/repeat.go",
		"	most := min(d/15*2+d%15*2/15, math.MaxInt64-d)", "	most := min(d*2/15, math.MaxInt64)",
		[]string{"./cmd/internal/cli TestJittered"},
	}, {
		"completions run names", "scripts/docs/completions/dpl.bash",
		"dpl-\\([A-Za-z0-9._+-]*\\)$", "dpl-\\(.*\\)$",
		[]string{"./scripts/docs TestDocs/bash"},
	}, {
		"the place in a file has any length", "protocol/wire/error.go",
		"	if len(text) <= 2*most {", "	if len(text) > 0 {",
		[]string{"./protocol TestDecodeErrorIsShort"},
	}, {
		"JSON with U+009B", "cmd/internal/cli/output.go",
		"	return []byte(harmless.JSON(out.String()))",
		"	return append([]byte(harmless.JSON(\"\")), out.Bytes()...)",
		[]string{"output/raw_text.txtar"},
	}, {
		"handles as they are", "cmd/dpl-heartbeat/beat.go",
		"harmless.Text(strings.NewReplacer(\"\\t\", \" \", \"\\n\", \" \").Replace(handle))",
		"strings.NewReplacer(\"\\t\", \" \", \"\\n\", harmless.Text(\" \")).Replace(handle)",
		[]string{"output/raw_text.txtar"},
	}, {
		"a file of 40 GB is no damage", "fileops/trust/read.go", // to read it would take all memory
		"	if size > MaxFile {\n		return nil, fmt.Errorf(\"%s: %w\", path, TooLarge(\"a file\"))\n	}\n",
		"	if size > MaxFile {\n		return nil, io.ErrShortBuffer\n	}\n",
		[]string{"./fileops TestSparseFiles"},
	}, {
		"a tree deeper than descriptors", "fileops/resource/tree.go",
		"	if len(above) == maxOpen {", "	if len(above) < 0 {",
		[]string{"./fileops/resource TestPurgeDeepTree$"},
	}, {
		"systemd runs whatever has the number", "cmd/internal/process/start/unit_linux.go",
		"	path, err := os.Executable()\n", "	path, err := executable()\n",
		[]string{"./cmd/internal/process/start TestSpawnUnit$"},
	}, {
		"dpl.sh rewrites a trap of lines", "scripts/dpl.sh",
		"        dpl__each_trap \"$(cat \"$dpl_file\")\"",
		"        dpl__each_trap \"$(sed 's/^trap/dpl__trapped/' \"$dpl_file\")\"",
		[]string{"./scripts/clients TestClients/dash/own_EXIT_of_lines"},
	}, {
		"an age of centuries", "protocol/wire/time.go",
		"return max(min(to.Sub(from), Longest), -Longest)", "return to.Sub(from)",
		[]string{"./protocol TestVectors/^cleanup-longest"},
	},
}
