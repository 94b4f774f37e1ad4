package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// told returns troubles as "subject: what", and below it "  command".
func told(p Page) (all []string) {
	for _, t := range p.troubles() {
		all = append(all, strings.TrimPrefix(t.ID+": "+t.What, ": "))
		for _, line := range t.Quote {
			all = append(all, "  > "+line)
		}
		for _, c := range t.Commands() {
			all = append(all, "  "+c.Command)
		}
	}
	return all
}

func expect(t *testing.T, p Page, want ...string) {
	t.Helper()
	if got := told(p); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCallTroubles(t *testing.T) {
	op := callsOf(4, func(int) int { return 0 }, 2)
	op.ID, op.State = "build", protocol.Cleanup
	op.Stack[2].SupervisorID = "janitor"
	op.Supervisors = []protocol.Supervisor{{ID: "janitor", Status: protocol.Alive}}
	over := callsOf(0, nil)
	over.ID, over.State = "night", protocol.Failed
	over.Transitions = []protocol.Transition{
		{From: protocol.Running, To: protocol.Cleanup, At: noon, Cause: &protocol.Cause{
			Call: "dump", Evidence: observe.Exited}},
		{From: protocol.Cleanup, To: protocol.Failed, At: noon},
	}
	over.Events = []observe.Event{{Type: observe.CallState, CallID: "dump"}}
	lost := callsOf(1, nil)
	lost.ID, lost.Seen.Now = "lost", noon.Add(2*time.Hour)

	expect(t, Page{Operations: []model.Operation{op, over, lost}, Warnings: []string{"x is not valid"}},
		"x is not valid",
		"  dpl-doctor",
		"build: 1 call crashed: call-2 (exited)",
		"  dpl-cleanup --op build --supervisor janitor --ack call-2",
		"  dpl-status --op build --why call-2",
		"night: failed 1s ago: call dump crashed: its process is gone",
		"  dpl-status --op night --why dump",
		"  dpl-watch --op night",
		"lost: no pass has found yet that these calls are dead: call-0 (stale)",
		"  dpl-cleanup --op lost",
	)

	op.Stack = slices.Delete(op.Stack, 2, 3)
	op.Transitions = over.Transitions[:1]
	expect(t, pageOf(op), "build: has failed, and 3 calls may still clean up: call dump crashed: its process is gone")

	op = callsOf(4, func(int) int { return 0 }, 2)
	op.ID, op.State = "build", protocol.Cleanup
	op.Seen.Now, op.Transitions = noon.Add(20*time.Hour), over.Transitions[:1]
	op.StalenessThreshold = 90 * time.Minute
	for _, f := range op.Stack {
		f.LastHeartbeat = op.Seen.Now
	}
	expect(t, pageOf(op), "build: 1 call crashed: call-2 (exited)", "  dpl-cleanup --op build",
		"  dpl-status --op build --why call-2",
		"build: asked to clean up long ago, and still open: call-0, call-1, call-3",
		"  dpl-pop --op build --call call-0")
}

func TestServiceTroubles(t *testing.T) {
	of := func(id string, s group.ServiceStatus, r group.ServiceRecovery) group.Service {
		s.LastHeartbeat = noon
		return group.Service{ID: id, ServiceSpec: group.ServiceSpec{StartInfo: &group.StartInfo{
			Command: "x"}}, ServiceStatus: s, ServiceRecovery: r}
	}
	g := group.Create("shop")
	g.Orchestrator.Heartbeat, g.Orchestrator.StalenessThreshold = noon, time.Minute
	g.Orchestrator.State = group.OrchestratorRunning
	g.Registry.Services = []group.Service{
		of("db", group.ServiceStatus{State: group.StateDead, LastExit: &policy.Exit{At: noon,
			Reason: "exited", Code: policy.CodeExited, Status: 3}}, group.ServiceRecovery{}),
		of("mail", group.ServiceStatus{State: group.StateScheduled}, group.ServiceRecovery{
			NextAttemptAt: noon.Add(9 * time.Second)}),
		of("web", group.ServiceStatus{State: group.StateWaiting}, group.ServiceRecovery{
			BlockedBy: "db"}),
		of("ok", group.ServiceStatus{State: group.StateStopped}, group.ServiceRecovery{}),
	}
	page := func(now time.Time) Page {
		return Page{Groups: []Group{{Group: model.Group{Group: g, Seen: observe.Observation{Now: now}}}}}
	}

	want := []string{
		"shop: service db is dead: exited 3",
		"  dpl-restart --group shop --service db",
		"  dpl-status --group shop --log db",
		"shop: service mail: restart in 9s",
		"  dpl-status --group shop --why mail",
		"shop: service web is blocked by db",
		"  dpl-status --group shop --why web",
	}
	expect(t, page(noon), want...)

	got := strings.Join(told(page(noon.Add(time.Hour))), "\n")
	if want := "shop: the last pass was 1h0m0s ago: what fails is not restarted\n" +
		"  dpl-orchestrate --group shop --every 5s"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	g.Registry.Services = nil
	g.Registry.Supervision.End = group.GroupEnd{State: group.GroupEnded,
		Reason: policy.EndIntensity, At: noon}
	expect(t, page(noon), "shop: the group has ended: intensity", "  dpl-restart --group shop --all")
}

func TestTaskTroubles(t *testing.T) {
	q := queue.Create("jobs")
	q.Halts = []queue.Halt{{By: "ada", Reason: "red"}, {By: "operator", Reason: "lunch"},
		{By: "policy", Reason: queue.HaltOpenGoal, Automatic: true},
		{By: "policy", Reason: "failures", Automatic: true}, {By: "it's; rm -rf /", Reason: "x"}}
	q.Tasks = []*queue.Task{
		{ID: "b", State: queue.Blocked, Reason: "which branch?"},
		{ID: "asks", State: queue.Blocked, Question: "q1"},
		{ID: "d", State: queue.Dead, Last: queue.Attempt{Epoch: 1, End: queue.Failed, Reason: "no disk"}},
		{ID: "c", State: queue.Claimed, Claim: &queue.Claim{Participant: "w", At: noon,
			Deadline: time.Second}},
	}
	ask := queue.Create("ask.ada")
	asker := []queue.Asker{{Participant: "bot"}}
	which := queue.AskSpec{Text: "Which?", Choices: []string{"stage", "the real one", "--deny", "g\u0456t"}}
	ask.Tasks = []*queue.Task{
		{ID: "q1", State: queue.Open, Spec: `{"text":"May I?"}`,
			Ask: &queue.Ask{Kind: queue.AskPermission, Text: "May I?", Askers: asker}},
		{ID: "q2", State: queue.Open, Spec: string(which.Content()),
			Ask: &queue.Ask{Kind: queue.AskQuestion, Text: which.Brief(), Askers: asker}},
		{ID: "q3", State: queue.Open, Spec: `{"text":"Run it?","input":{"argv":["rm"]}}`,
			Ask: &queue.Ask{Kind: queue.AskPermission, Text: "Run it? [rm]", Askers: asker}},
	}
	shown := func(i int) string { return " --shown " + ask.Tasks[i].Shown(ask.ID).Hash() }

	seen := queue.Seen{Observation: observe.Observation{Now: noon.Add(time.Minute)}}
	p := Page{Queues: []model.Queue{model.NewQueue(q, seen), model.NewQueue(ask, seen)}}
	expect(t, p,
		"jobs: 1 dead task: d (no disk)",
		"  dpl-enqueue jobs --again d",
		"  dpl-status --queue jobs --why d",
		"jobs: nobody has found yet that these attempts have ended: c (timedOut)",
		"  dpl-cleanup",
		"jobs: halted by ada: red",
		"  dpl-queue jobs --resume --as ada",
		"jobs: halted by operator: lunch",
		"  dpl-queue jobs --resume",
		"jobs: halted by policy: exhausted-goal-incomplete",
		"  dpl-queue jobs --resume --goal-done",
		"jobs: halted by policy: failures",
		"  dpl-queue jobs --resume",
		"jobs: halted by it's; rm -rf /: x",
		`  dpl-queue jobs --resume --as 'it'\''s; rm -rf /'`,
		"jobs: 1 blocked task: b (which branch?)",
		"  dpl-enqueue jobs --again b",
		"ask.ada: bot asks for permission:",
		"  > May I?",
		"  dpl-answer q1 --to ada",
		"  dpl-answer q1 --to ada"+shown(0)+" --allow",
		"  dpl-answer q1 --to ada --deny",
		"ask.ada: bot asks:",
		"  > Which? (stage, the real one, --deny, g\u0456t)",
		"  dpl-answer q2 --to ada"+shown(1)+" stage",
		"  dpl-answer q2 --to ada"+shown(1)+" 'the real one'",
		"  dpl-answer q2 --to ada"+shown(1)+" 3",
		"  dpl-answer q2 --to ada"+shown(1)+" 4",
		"  dpl-answer q2 --to ada --deny",
		"ask.ada: bot asks for permission:",
		"  > Run it? [rm]",
		"  dpl-answer q3 --to ada",
		"  dpl-answer q3 --to ada --deny",
	)
}

// What needs attention is at the top, subjects in trouble before others, and an empty ledger says
// how to begin.
func TestOrder(t *testing.T) {
	well, bad, done := callsOf(1, nil), callsOf(1, nil, 0), callsOf(0, nil)
	well.ID, bad.ID, done.ID, done.State = "well", "bad", "done", protocol.Completed
	p := Page{Title: "Ledger", Whole: true, Now: noon, Operations: []model.Operation{done, well, bad}}
	text, at := p.Text(), 0
	for _, part := range []string{"Needs attention", ">bad</a> 1 call crashed", "<fieldset",
		`<details class="subject t" id="operation-bad" open="open">`, `<details class="subject g" id="operation-well"`,
		`<details class="subject o" id="operation-done">`} {
		i := strings.Index(text, part)
		if i < at {
			t.Fatalf("%s is not after the part before it in\n%s", part, text)
		}
		at = i
	}

	for what, p := range map[string]Page{
		"Nothing needs attention.":            pageOf(well),
		"dpl-enqueue jobs -- make test":       {Whole: true},
		"This adds one: dpl-enqueue q -- COM": {Queues: []model.Queue{model.NewQueue(queue.Create("q"), queue.Seen{})}},
		"This registers one: dpl-register --group g --service NAME -- COM": {Groups: []Group{{
			Group: model.Group{Group: group.Create("g")}}}},
		"It is over: no call is open.":             pageOf(done),
		`<meta http-equiv="refresh" content="5"/>`: {Refresh: 5 * time.Second},
	} {
		if text := p.Text(); !strings.Contains(text, what) {
			t.Errorf("there is no %q in\n%s", what, text)
		}
	}
	if strings.Contains(pageOf(well).Text(), `"refresh"`) {
		t.Error("a page is read again that nobody asked to be")
	}
}

// Hundreds of troubles do not hide what they are about.
func TestManyTroubles(t *testing.T) {
	p := Page{Title: "Ledger", Whole: true, Now: noon}
	for i := range 300 {
		op := callsOf(1, nil, 0)
		op.ID = fmt.Sprintf("op-%d", i)
		p.Operations = append(p.Operations, op)
	}
	text := p.Text()
	if !strings.Contains(text, "<details><summary>280 more</summary>") {
		t.Error("all troubles are shown at once")
	}
	if n := strings.Count(text, `open="open"`); n > 40 {
		t.Errorf("%d parts are open", n)
	}
}
