package main

// machine and queueVectors look for bugs in queues.
const (
	machine      = "./protocol/queue TestMachine"
	queueVectors = "./protocol/queue TestVectors"
)

// queues are bugs in queues of tasks (spec/queues.md).
var queues = []mutant{
	{
		"an epoch that nobody checks", "protocol/queue/settle.go",
		"q.Tasks[i].Claim.Epoch != s.Epoch", "q.Tasks[i].Claim.Epoch < 0",
		[]string{machine, queueVectors},
	}, {
		"a retry goes to the tail", "protocol/queue/settle.go",
		"	t.Claim, t.State, t.Question, t.delay = nil, Waiting, \"\", timerMember{}\n",
		"	t.Claim, t.State, t.Question, t.delay = nil, Waiting, \"\", timerMember{}\n" +
			"	e.q.LastSeq++\n	t.Seq = e.q.LastSeq\n",
		[]string{machine, queueVectors},
	}, {
		"a group does not hold", "protocol/queue/hold.go",
		"t.Group != \"\" && head != nil && head.ID != t.ID", "t.Group == \"-\" && head.ID != t.ID",
		[]string{machine, queueVectors},
	}, {
		"a second claim in a group", "protocol/queue/hold.go",
		"head == nil || head.Claim == nil && t.Claim != nil", "head == nil",
		[]string{queueVectors},
	}, {
		"a reboot is charged", "protocol/queue/end.go",
		"case Rebooted, Released:", "case Released:",
		[]string{machine, queueVectors},
	}, {
		"an ended id is added again", "protocol/queue/enqueue.go",
		"	if ended, ok := e.endOf(n.ID); ok {", "	if ended, ok := e.endOf(n.ID); ok && ended.Spec == \"\" {",
		[]string{machine, queueVectors},
	}, {
		"an answer to what was not shown", "protocol/queue/ask_answer.go",
		"case a.Shown != t.Shown(q.ID).Hash():", "case a.Shown == \"\":",
		[]string{machine, queueVectors},
	}, {
		"an unsigned yes", "protocol/queue/ask_answer.go",
		"a.Signature == \"\" && a.End.Yes():", "a.Signature == \"\" && a.End == EndedAnswered:",
		[]string{queueVectors},
	}, {
		"the nonce is not shown", "protocol/queue/ask_sign.go",
		"lines(s.Queue, s.ID, s.Nonce,", "lines(s.Queue, s.ID, s.ID,",
		[]string{queueVectors},
	}, {
		"the scope is not shown", "protocol/queue/ask_sign.go",
		"lines(s.Scope, s.Key, s.Spec)", "lines(s.Key, s.Key, s.Spec)",
		[]string{queueVectors},
	}, {
		"a yes is taken that no line has", "protocol/queue/ask_answer.go",
		"} else if !recorded {", "} else if !recorded && yes.ID == \"\" {",
		[]string{queueVectors},
	}, {
		"another yes is taken", "protocol/queue/ask_answer.go",
		"if ended.line() != yes.line() {", "if ended.End != yes.End {",
		[]string{queueVectors},
	}, {
		"a yes counts that is discounted", "protocol/queue/ask.go",
		"ended.ID == ask.Discounted {", "ended.ID == \"\" {",
		[]string{queueVectors},
	}, {
		"a text is cut without a word", "protocol/queue/ask.go",
		"fmt.Sprintf(\"%s … %d more bytes\", begin, len(text)-len(begin))", "fmt.Sprint(begin)",
		[]string{queueVectors, "ask/cut.txtar"},
	}, {
		"the id of a question comes again", "protocol/queue/ask.go",
		"taken || e.q.index(ask.ID) >= 0 {", "taken && e.q.index(ask.ID) >= 0 {",
		[]string{queueVectors},
	}, {
		"a key means the question of another scope", "protocol/queue/ask.go",
		" && t.Ask.Scope == ask.Scope {", " {",
		[]string{queueVectors},
	}, {
		"an answer is repeated with another text", "protocol/queue/ask_answer.go",
		"d.Answer == a.Text && d.Rule.Number == 0", "d.Rule.Number == 0",
		[]string{queueVectors},
	}, {
		"what rules have decided is remembered", "protocol/queue/edit.go",
		"d != nil && d.Rule.Number > 0 {", "d != nil && d.Rule.Number < 0 {",
		[]string{queueVectors},
	}, {
		"an attempt is settled twice", "protocol/queue/settle.go",
		"	case last.End != s.End:", "	case last.End == \"\":",
		[]string{machine, queueVectors},
	}, {
		"an attempt is settled after its judge", "protocol/queue/settle.go",
		" || last.Epoch == 0 || last.Judged:", " || last.Epoch == 0:",
		[]string{machine, queueVectors},
	}, {
		"one slot too many", "protocol/queue/hold.go",
		"l.claimed >= most", "l.claimed > most",
		[]string{machine, queueVectors},
	}, {
		"a task expires that was claimed", "protocol/queue/judge.go",
		"(t.State == Waiting && t.Attempts == 0 || t.State == Open)", "(t.State == Waiting || t.State == Open)",
		[]string{machine, queueVectors},
	}, {
		"a claimed task expires", "protocol/queue/judge.go",
		"(t.State == Waiting && t.Attempts == 0 || t.State == Open)", "t.State != Dead",
		[]string{machine, queueVectors},
	}, {
		"a keeper that nobody minds", "protocol/queue/judge.go",
		"evidence != \"\" && c.keeperGone(seen)", "evidence != \"\"",
		[]string{machine, queueVectors},
	}, {
		"a task that is changed in place", "protocol/queue/edit.go",
		"	t := *e.q.Tasks[i]\n	e.tasks()[i] = &t\n	e.changed = true\n	return &t\n",
		"	e.changed = true\n	return e.q.Tasks[i]\n",
		[]string{machine, queueVectors},
	}, {
		"a permit that is kept", "protocol/queue/claim.go",
		"		p.Left--", "		p.Left -= 0",
		[]string{machine, queueVectors},
	}, {
		"a snooze is a try", "protocol/queue/settle.go",
		"		t.Tries = max(0, t.Tries-1)\n", "",
		[]string{queueVectors},
	}, {
		"free tries without end", "protocol/queue/settle.go",
		"t.Tries < triesPerFailure*most", "t.Tries < 50*most",
		[]string{queueVectors},
	}, {
		"an intent that nobody hears", "protocol/queue/settle.go",
		"	case c.Intent != nil:", "	case c.Intent != nil && c.Epoch < 0:",
		[]string{machine, queueVectors},
	}, {
		"a wrong number in the file of ended tasks", "protocol/queue/edit.go",
		"Remembered{ended, number + int64(i) + 1}", "Remembered{ended, number + int64(i)}",
		[]string{machine, queueVectors},
	}, {
		"a timer by the wall clock", "protocol/queue/timer.go",
		"seen.Age(t.At, t.Beat)", "seen.Age(t.At, observe.Beat{})",
		[]string{machine, queueVectors},
	}, {
		"a cycle through a group", "protocol/queue/enqueue.go",
		"len(n.After) > 0 || n.Group != \"\"", "len(n.After) > 0",
		[]string{queueVectors},
	}, {
		"a lost unknown member of a beat", "protocol/queue/timer.go",
		"observe.ReadBeat(r, &t.nested, member)", "observe.ReadBeat(r, &t.nested, name)",
		[]string{queueVectors},
	}, {
		"a dependency that is dead is alive", "protocol/queue/queue.go",
		"func (s TaskState) live() bool { return s != Dead }",
		"func (s TaskState) live() bool { return s != \"\" }",
		[]string{queueVectors},
	}, {
		"an alert of an earlier death", "protocol/queue/alerts.go",
		" && t.Last.Epoch == a.Epoch", "",
		[]string{queueVectors},
	}, {
		"a task that dies again and is not told", "protocol/queue/control.go",
		"t.SameError, t.Alerted = 0, 0, 0, false", "t.SameError = 0, 0, 0",
		[]string{queueVectors},
	}, {
		"an alert for one halt that counts for all", "protocol/queue/alerts.go",
		" && h.By == a.By", "",
		[]string{queueVectors},
	}, {
		"an attempt of nobody", "protocol/queue/settle.go",
		"By: c.Participant, ", "",
		[]string{queueVectors},
	}, {
		"a running time by the wall clock", "protocol/queue/settle.go",
		"ran := max(0, e.seen.Age(c.At, c.Beat))", "ran := max(0, e.seen.Now.Sub(c.At))",
		[]string{queueVectors},
	},
}
