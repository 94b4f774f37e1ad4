package main

// judgeTests look for bugs in verdicts.
const judgeTests = "./protocol/check TestJudge"

// checks are bugs in checks of attempts (spec/checks.md).
var checks = []mutant{
	{
		"what cannot be told passes", "protocol/check/report.go",
		"	case len(r.Uncertain) > 0:", "	case len(r.Uncertain) > 1000:",
		[]string{judgeTests, "check/rules.txtar"},
	}, {
		"nothing looked at passes", "protocol/check/report.go",
		"	case r.Looked == 0:", "	case r.Looked < 0:",
		[]string{judgeTests, "check/rules.txtar"},
	}, {
		"a doubt is a failure", "protocol/check/judge.go",
		"	case j.strict:", "	case !j.strict:",
		[]string{judgeTests, "check/queue.txtar"},
	}, {
		"a command that cannot tell fails", "protocol/check/judge.go",
		"	case status == unsure:", "	case status == -unsure:",
		[]string{judgeTests, "check/queue.txtar"},
	}, {
		"a binary file lacks everything", "protocol/check/judge.go",
		"			lineAt(text, at[0])))\n	case !isText(text):", "			lineAt(text, at[0])))\n	case false:",
		[]string{judgeTests},
	}, {
		"what matches no file is right", "protocol/check/judge.go",
		"err == nil && len(paths) == 0", "err == nil && len(paths) < 0",
		[]string{judgeTests, "check/rules.txtar"},
	}, {
		"a young file has not changed", "protocol/check/snapshot.go",
		"		case f.Young:", "		case false:",
		[]string{"./protocol/check TestChanged"},
	}, {
		"the time of the content tells", "cmd/internal/inspect/stamp_linux.go",
		"st.Ctim.Unix()", "st.Mtim.Unix()",
		[]string{"check/changed.txtar", "./cmd/internal/inspect TestStamp"},
	}, {
		"any FIFO is a file", "cmd/internal/inspect/inspect.go",
		"	case mode.IsRegular():", "	case mode.IsRegular(), mode&fs.ModeNamedPipe != 0:",
		[]string{"./cmd/internal/inspect TestHostileFiles", "check/hostile.txtar"},
	}, {
		"a test that may fail decides", "protocol/check/task.go",
		"		if t.must {", "		if t.test != \"\" {",
		[]string{"./protocol/check TestOfTask", "check/task.txtar"},
	}, {
		"any sentence is a file", "protocol/check/task.go",
		"	case !strings.ContainsAny(file, \"./\"):", "	case file == \"\":",
		[]string{"./protocol/check TestOfTask"},
	}, {
		"a pattern in a task", "protocol/check/task.go",
		"			only.WriteByte('\\\\')\n", "",
		[]string{"./protocol/check TestOfTask", "check/task.txtar"},
	}, {
		"a worker's word decides", "cmd/dpl-settle/judge.go",
		"		s.Outcome = queue.Outcome{}\n", "",
		[]string{"check/queue.txtar"},
	}, {
		"a worker of its own is not checked", "cmd/dpl-settle/main.go",
		"	judged := !c.Done", "	judged := true",
		[]string{"check/queue.txtar"},
	}, {
		"others' checks are made", "cmd/dpl-settle/judge.go",
		"		if err := env.CheckGroupTrust(l); err != nil {", "		if err := env.CheckGroupTrust(l); err == nil && false {",
		[]string{"check/shared.txtar"},
	}, {
		"a claim that does not look", "cmd/dpl-claim/main.go",
		"		c.look(env, l, t)\n", "",
		[]string{"check/queue.txtar"},
	}, {
		"a check without a limit", "cmd/internal/inspect/inspect.go",
		"after(o.Limit)", "nil",
		[]string{"check/limits.txtar"},
	}, {
		"what a command leaves behind lives on", "cmd/internal/process/orphans_linux.go",
		"	return endChildren\n", "	return func(time.Duration) []int { return nil }\n",
		[]string{"check/limits.txtar"},
	}, {
		"what was there before is killed", "cmd/internal/process/orphans_linux.go",
		"len(children()) > 0 || ", "",
		[]string{"check/limits.txtar"},
	}, {
		"services are killed", "cmd/internal/process/orphans_linux.go",
		"slices.DeleteFunc(children(), IsKeeper)", "slices.Clone(children())",
		[]string{"check/limits.txtar"},
	}, {
		"a failed attempt is checked", "cmd/dpl-run/judge.go",
		"e.failure != \"\" || a.saidOtherwise()", "a.saidOtherwise()",
		[]string{"check/queue.txtar"},
	}, {
		"a blocked attempt is checked", "cmd/dpl-run/judge.go",
		"e.failure != \"\" || a.saidOtherwise()", "e.failure != \"\"",
		[]string{"check/queue.txtar"},
	}, {
		"a check that TERM has stopped counts", "cmd/dpl-run/attempt.go",
		"	case e.told:\n		return queue.Outcome{End: queue.Released, Reason: a.check.outcome.Reason}\n",
		"",
		[]string{"check/queue.txtar"},
	}, {
		"a report that nobody keeps", "cmd/dpl-run/attempt.go",
		"		s.Report = a.check.text\n", "		_ = a.check.text\n",
		[]string{"check/queue.txtar", "./testscripts TestOperator$"},
	},
}
