package page

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
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

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// nasty is what others may write into a file, where it is no id; nastyText is what it looks like on
// a page.
const (
	nasty     = `</td></style></script></title>-->]]><script>document.title="pwned"</script>"onload="x' <img src=x onerror=alert(1)> & &amp; &#x3c;` + "\x1b[31m\x00\u202e\ufffe"
	nastyText = `</td></style></script></title>-->]]><script>document.title="pwned"</script>"onload="x' <img src=x onerror=alert(1)> & &amp; &#x3c;` + `\u{1b}[31m�\u{202e}\u{fffe}`
)

// hostile returns a page of an operation, a group and a queue in which all that is no id is nasty.
func hostile() Page {
	seen := observe.Observation{Now: noon.Add(time.Minute)}
	crash := &protocol.Crash{
		At: noon, DetectedBy: nasty, Evidence: observe.Stale, PreviousState: protocol.FrameActive,
		LeftResources: []observe.LeftResource{{Path: nasty, Error: nasty}},
	}

	op := protocol.Create("op", "", 0, 0)
	op.State, op.Revision = protocol.Cleanup, 7
	op.Stack = []*protocol.Frame{
		{CallID: "a", ParticipantID: "p", State: protocol.FrameActive, StartTime: noon,
			Vitals: observe.Vitals{LastHeartbeat: noon}, Description: nasty,
			SupervisorID: "s", SupervisorHandle: nasty,
			Notice: observe.Notice{Readiness: observe.ReadinessStarting, Note: nasty}},
		{CallID: "b", ParticipantID: nasty, State: protocol.FrameCrashed, StartTime: noon,
			Vitals: observe.Vitals{LastHeartbeat: noon}, Crash: crash},
	}

	op.Supervisors = []protocol.Supervisor{{ID: "s", Status: protocol.Alive,
		Vitals: observe.Vitals{LastHeartbeat: noon}}}
	op.Transitions = []protocol.Transition{{Revision: 3, From: protocol.Running,
		To: protocol.Cleanup, At: noon.Add(2 * time.Second), By: nasty, Reason: nasty}}
	op.Events = []observe.Event{
		{Revision: 1, At: noon, Type: observe.CallStarted, CallID: "a", To: "active", By: nasty},
		{Revision: 2, At: noon.Add(time.Second), Type: observe.CallState, CallID: nasty,
			From: nasty, To: nasty, By: nasty, Reason: nasty,
			LeftResources: []observe.LeftResource{{Path: nasty, Error: nasty}}},
		{Revision: 4, At: noon.Add(3 * time.Second), Type: observe.EventType(nasty), CallID: "a",
			From: nasty, To: nasty},
	}

	g := group.Create("g")
	g.Orchestrator.Heartbeat, g.Registry.Owner = noon, nasty
	g.Registry.Services = []group.Service{{
		ID: "db",
		ServiceSpec: group.ServiceSpec{
			StartInfo:    &group.StartInfo{Command: nasty, Args: []string{"secret"}},
			Dependencies: []string{nasty},
		},
		ServiceStatus: group.ServiceStatus{
			State: group.StateDead, StartedAt: noon,
			LastExit: &policy.Exit{At: noon, Reason: nasty, Error: nasty},
		},
		ServiceRecovery: group.ServiceRecovery{BlockedBy: nasty},
	}}

	g.Registry.Events = []observe.Event{{Revision: 1, At: noon, Type: observe.SupervisorState,
		SupervisorID: "db", To: nasty}}

	q := queue.Create("q")
	q.Goal = &queue.Goal{Description: nasty}
	q.Halts = []queue.Halt{{By: nasty, Reason: nasty, Details: nasty, At: noon}}
	q.Tasks = []*queue.Task{
		{ID: "c", State: queue.Claimed, Claim: &queue.Claim{Participant: nasty, At: noon,
			Operation: nasty, Call: nasty, Stop: queue.Cancelled, StopReason: nasty, PID: 7,
			Process: observe.Process{PID: 7, BootID: nasty, HostID: nasty}}},
		{ID: "b", State: queue.Blocked, Reason: nasty, Question: nasty,
			Spec: `{"argv":["secret"]}`},
		{ID: "d", State: queue.Dead, Last: queue.Attempt{Epoch: 1, End: queue.Failed, Reason: nasty}},
	}
	q.Ended = []queue.Ended{{ID: "e", End: queue.EndedCancelled, At: noon,
		Last: queue.Attempt{Epoch: 2, End: queue.Failed, Reason: nasty}}}

	ask := queue.Create("ask")
	spec := queue.AskSpec{Text: nasty, Choices: []string{nasty}}
	ask.Tasks = []*queue.Task{{ID: "q1", State: queue.Open, EnqueuedAt: noon, Spec: string(spec.Content()),
		Ask: &queue.Ask{Kind: queue.AskQuestion, Text: spec.Brief(),
			Askers: []queue.Asker{{Participant: nasty, User: nasty}}}}}

	return Page{
		Title: "Ledger", Now: seen.Now, Whole: true,
		Queues: []model.Queue{model.NewQueue(q, queue.Seen{Observation: seen}),
			model.NewQueue(ask, queue.Seen{Observation: seen})},
		Operations: []model.Operation{{Operation: op, Seen: seen}},
		Groups: []Group{{Group: model.Group{Group: g, Seen: seen}, Alerts: []group.Alert{
			{Seq: 1, Type: group.AlertType(nasty), ServiceID: "db", Message: nasty,
				Timestamp: noon},
		}}},
		Warnings: []string{nasty},
		Ledger:   "/" + nasty, Refresh: 5 * time.Second,
		Records: map[string]*Record{"queue q": {Seq: 1, Head: nasty, Findings: []string{nasty},
			Lines: []RecordLine{{Seq: 1, At: noon, Verb: nasty, Who: nasty, What: []string{nasty}}}}},
	}
}

// Nothing that others have written is taken for markup: the page has the elements and attributes
// that it is written with, and loads and runs nothing.
func TestHostile(t *testing.T) {
	elements := strings.Fields("html head meta title style body header h1 h2 h3 p time main " +
		"section details summary div span b i ul li table tr td footer code a fieldset label input br")
	attributes := strings.Fields("lang charset name http-equiv content class style title open id " +
		"href type checked aria-label")
	d := xml.NewDecoder(strings.NewReader(hostile().Text()))
	d.Entity = map[string]string{}
	texts, depth, in := 0, 0, ""

	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}

		switch token := token.(type) {
		case xml.StartElement:
			depth++
			if in = token.Name.Local; !slices.Contains(elements, in) {
				t.Errorf("there is an element %s", in)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					t.Errorf("%s has an attribute %s", in, a.Name.Local)
				}
				if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("%s refers to %s", in, a.Value)
				}
				if a.Name.Local == "style" && strings.Trim(a.Value,
					"adefghilmnprtw-:;0123456789.%") != "" {
					t.Errorf("%s has the style %q", in, a.Value)
				}
				texts += strings.Count(a.Value, nastyText)
			}
		case xml.EndElement:
			depth, in = depth-1, ""
		case xml.CharData:
			texts += strings.Count(string(token), nastyText)
			if in == "style" && string(token) != style {
				t.Errorf("the style is %q", token)
			}
			if depth == 0 && strings.TrimSpace(string(token)) != "" {
				t.Errorf("there is %q outside", token)
			}
		case xml.Comment, xml.ProcInst:
			t.Errorf("there is %v", token)
		}
	}

	if depth != 0 || texts < 45 {
		t.Errorf("%d elements are open at the end, and there are %d nasty texts, want 45 or more",
			depth, texts)
	}
}

// It refers to nothing elsewhere, and what a program was started with is not told: it may be
// secret.
func TestReferences(t *testing.T) {
	text := hostile().Text()
	for _, no := range []string{"http:", "https:", "//", "src=\"", "url(", "@import",
		"secret", "<script", "<img", "\x1b", "\u202e"} {
		if strings.Contains(text, no) {
			t.Errorf("there is %q", no)
		}
	}

	if !strings.Contains(text, `http-equiv="Content-Security-Policy" content="default-src 'none'`) {
		t.Error("the browser may load what it likes")
	}
}

func TestDeterministic(t *testing.T) {
	if first, second := hostile().Text(), hostile().Text(); first != second {
		t.Error("two pages of the same differ")
	}
}

// lanesOf says what a chart shows: "call: state from-to, ...", in seconds since noon.
func lanesOf(c *chart) (all []string) {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return fmt.Sprint(t.Sub(noon).Seconds())
	}

	for _, l := range c.lanes {
		text := l.label + ":"
		for _, s := range l.spans {
			text += fmt.Sprintf(" %s %s-%s", s.state, at(s.from), at(s.to))
		}
		all = append(all, text)
	}

	return all
}

// The timeline is right also where the oldest events are lost, and a call id is used again.
func TestLanes(t *testing.T) {
	event := func(second int, what observe.EventType, call, from, to string) observe.Event {
		return observe.Event{Revision: int64(second),
			At: noon.Add(time.Duration(second) * time.Second), Type: what, CallID: call, From: from, To: to}
	}

	op := protocol.Create("op", "", 0, 0)
	op.Stack = []*protocol.Frame{
		{CallID: "root", State: protocol.FrameActive, StartTime: noon,
			Vitals: observe.Vitals{LastHeartbeat: noon}},
		{CallID: "again", State: protocol.FrameCrashed, StartTime: noon.Add(4 * time.Second)},
	}

	op.Events = []observe.Event{
		event(1, observe.CallState, "old", "active", "cleaningUp"),
		event(2, observe.CallEnded, "old", "cleaningUp", ""),
		event(2, observe.CallStarted, "again", "", "active"),
		event(3, observe.CallEnded, "again", "active", ""),
		event(4, observe.CallStarted, "again", "", "active"),
		event(5, observe.CallState, "again", "active", "crashed"),
		event(6, observe.CallEnded, "lost", "active", ""),
	}

	c := operationLanes(model.Operation{Operation: op,
		Seen: observe.Observation{Now: noon.Add(9 * time.Second)}})
	want := []string{
		"operation: running -", "root: active 0-", "again: active 2-3 active 4-5 crashed 5-",
		"old: active -1 cleaningUp 1-2", "lost: active -6",
	}

	if got := lanesOf(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if c.from != noon || c.to != noon.Add(9*time.Second) {
		t.Errorf("from %v to %v, want the start of the oldest call and now", c.from, c.to)
	}
}

// What restarts together is one span: from the failure of the cause until the last runs again.
func TestSetLanes(t *testing.T) {
	event := func(second int, id, from, to, reason string) observe.Event {
		return observe.Event{Revision: int64(second), At: noon.Add(time.Duration(second) * time.Second),
			Type: observe.SupervisorState, SupervisorID: id, From: from, To: to, Reason: reason}
	}
	because := func(cause string, e observe.Event) observe.Event {
		e.CauseID = cause
		return e
	}

	g := group.Group{ID: "g"}
	g.Registry.Events = []observe.Event{
		event(1, "db", "running", "failed", "exited: signal 9"),
		event(1, "db", "failed", "restartScheduled", ""),
		because("db", event(2, "web", "running", "restartScheduled", "")),
		because("db", event(2, "job", "running", "restartScheduled", "")),
		event(3, "job", "restartScheduled", "stopped", "stopped"),
		event(4, "db", "restartScheduled", "running", "exited"),
		event(5, "web", "restartScheduled", "running", "sibling"),
		event(7, "db", "running", "failed", "exited: status 1"),
	}

	c := groupLanes(Group{Group: model.Group{Group: g,
		Seen: observe.Observation{Now: noon.Add(9 * time.Second)}}})
	if got, want := lanesOf(c)[0], "restart together: db 1-5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.lanes[0].spans[0].why, "because of db: db, job, web"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.lanes[1].spans[1].why, "exited: signal 9"; got != want {
		t.Errorf("the reason for the first failure of db is %q, want %q", got, want)
	}
}

// The lanes of a queue are its workers, with what they do and have done, and one for the tasks that
// have ended, meanwhile or in the last hour; nothing is drawn that the file does not tell.
func TestQueueLanes(t *testing.T) {
	at := func(second int) time.Time { return noon.Add(time.Duration(second) * time.Second) }
	q := queue.Create("q")
	q.Tasks = []*queue.Task{
		{ID: "a", State: queue.Claimed, Claim: &queue.Claim{Participant: "w1", At: at(-7200),
			Deadline: 3 * time.Hour}},
		{ID: "b", State: queue.Claimed, Claim: &queue.Claim{Participant: "w2", At: at(3),
			Deadline: time.Second}},
		{ID: "c", State: queue.Waiting},
		{ID: "d", State: queue.Dead, Last: queue.Attempt{Epoch: 1, End: queue.Failed, By: "w2",
			At: at(2), Ran: 2 * time.Second}},
		{ID: "e", State: queue.Dead, Last: queue.Attempt{Epoch: 1, End: queue.Failed}},
	}
	q.Ended = []queue.Ended{
		{ID: "old", End: queue.EndedDone, At: at(-7201), Last: queue.Attempt{Epoch: 1, End: queue.Done,
			By: "gone", At: at(-7201)}},
		{ID: "x", End: queue.EndedDone, At: at(-5000), Last: queue.Attempt{Epoch: 2, End: queue.Done,
			By: "w3", At: at(-5000), Ran: time.Second}},
		{ID: "y", End: queue.EndedExpired, At: at(2)},
	}

	show := func() *chart {
		return queueLanes(model.NewQueue(q, queue.Seen{Observation: observe.Observation{Now: at(9)}}))
	}
	c := show()
	want := []string{"ended:", "w1: claimed -7200-", "w2: timedOut 3- failed 0-2", "w3: done -5001--5000"}
	if got := lanesOf(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var marks []string
	for _, m := range c.lanes[0].marks {
		marks = append(marks, fmt.Sprintf("%v %s %s", m.at.Sub(noon).Seconds(), m.sign, m.title))
	}
	if want := []string{"-5000 ✓ task x: done", "2 × task y: expired"}; !slices.Equal(marks, want) {
		t.Errorf("marks %q, want %q", marks, want)
	}
	if c.from != at(-7200) || c.to != at(9) {
		t.Errorf("from %v to %v, want the oldest claim and now", c.from, c.to)
	}

	q.Tasks = nil
	if got := lanesOf(show()); !slices.Equal(got, want[:1]) {
		t.Errorf("without claims: got %q", got)
	}
	q.Ended = q.Ended[:1]
	if show().timeline() != nil {
		t.Error("a chart of nothing is drawn")
	}
}

// Where there are too many calls for the timeline, it shows the root caller and what has crashed.
// What is asked of a service, and how it ends, has a sign on its lane. One in trouble is drawn
// before one that is over, when there are too many.
func TestMarks(t *testing.T) {
	at := func(second int) time.Time { return noon.Add(time.Duration(second) * time.Second) }
	g := group.Group{ID: "g"}
	g.Registry.Events = []observe.Event{{Revision: 1, At: at(1), SupervisorID: "db",
		Type: observe.SupervisorState, From: "registered", To: "running"}}
	g.Registry.Services = []group.Service{{ID: "db",
		ServiceStatus: group.ServiceStatus{State: group.StateFailed, LastExit: &policy.Exit{
			At: at(6), Reason: "timeout", Detail: "runtime", Class: policy.Failure,
			Code: policy.CodeKilled, Status: 9,
		}},
		ServiceRecovery: group.ServiceRecovery{TermSentAt: at(5)},
	}, {ID: "over", ServiceStatus: group.ServiceStatus{State: group.StateStopped}}}

	c := groupLanes(Group{Group: model.Group{Group: g, Seen: observe.Observation{Now: at(9)}},
		Alerts: []group.Alert{
			{Type: group.AlertNudged, ServiceID: "db", Message: "runtime", Timestamp: at(3)},
			{Type: group.AlertPaused, ServiceID: "db", Message: "sandbox", Timestamp: at(4)},
			{Type: group.AlertNudged, ServiceID: "db", Message: "older than all", Timestamp: at(-9)},
		}})
	var got []string
	for _, m := range c.byName["supervisor db"].marks {
		got = append(got, fmt.Sprintf("%d %s %s", m.at.Sub(noon)/time.Second, m.sign, m.title))
	}
	want := []string{
		"3 ? supervisorNudged: runtime", "4 ‖ supervisorPaused: sandbox",
		"6 × ended: timeout: runtime, killed by SIGKILL", "5 ■ TERM was sent",
	}
	if !slices.Equal(got, want) {
		t.Errorf("marks %q, want %q", got, want)
	}

	c.keep(1)
	if left := c.lanes[0].label; left != "db" {
		t.Errorf("%s is drawn, and db is not", left)
	}
}

func TestManyLanes(t *testing.T) {
	op := protocol.Create("op", "", 0, 0)
	for i := range 200 {
		op.Stack = append(op.Stack, &protocol.Frame{
			CallID: fmt.Sprintf("call-%d", i), CallerID: "call-0", State: protocol.FrameActive,
			StartTime: noon, Vitals: observe.Vitals{LastHeartbeat: noon},
		})
		op.Events = append(op.Events, observe.Event{Type: observe.CallEnded,
			CallID: fmt.Sprintf("gone-%d", i), At: noon})
	}

	op.Stack[0].CallerID = ""
	op.Stack[170].State, op.Stack[180].State = protocol.FrameCrashed, protocol.FrameCleanedUp
	drawn := operationLanes(model.Operation{Operation: op,
		Seen: observe.Observation{Now: noon.Add(time.Second)}}).timeline()

	for _, call := range []string{"operation", "call-0", "call-170", "call-180", "call-1"} {
		if !slices.ContainsFunc(drawn.Tracks, func(t track) bool { return t.Label == call }) {
			t.Errorf("%s is not drawn", call)
		}
	}

	if n := len(drawn.Tracks); n != 60 || drawn.Undrawn != "341 lanes" {
		t.Errorf("%d lanes are drawn, and %s not, want 60 and 341 lanes", n, drawn.Undrawn)
	}
}

// A page says where a call is dead that no pass has found yet.
func TestNotFoundYet(t *testing.T) {
	op := protocol.Create("op", "", 0, 0)
	op.Stack = []*protocol.Frame{{CallID: "c", State: protocol.FrameActive, StartTime: noon,
		Vitals: observe.Vitals{LastHeartbeat: noon}}}
	at := func(now time.Time) model.Operation {
		return model.Operation{Operation: op, Seen: observe.Observation{Now: now}}
	}

	if got := pageOf(at(noon)).Text(); strings.Contains(got, "not yet found") ||
		!strings.Contains(got, `class="pill good">running`) {
		t.Error("a call that lives is said to be dead")
	}

	got := pageOf(at(noon.Add(time.Minute))).Text()
	if !strings.Contains(got, "1 dead but not yet found") ||
		!strings.Contains(got, `class="pill bad">running`) {
		t.Error("a call that is dead is not told of")
	}
}

func pageOf(op model.Operation) Page { return Page{Title: "op", Operations: []model.Operation{op}} }

// However long it takes, the axis has some ticks, and few.
func TestTicks(t *testing.T) {
	for d := time.Millisecond; d < 20*365*24*time.Hour; d = d*17/10 + time.Millisecond {
		c := chart{from: noon, to: noon.Add(d)}
		if n := len(c.ticks()); n < 1 || n > 8 {
			t.Errorf("%v: %d ticks", d, n)
		}
	}
}

// A time far in the future, which a file may have, makes the axis as long as it can be, and no
// longer.
func TestTicksOfCenturies(t *testing.T) {
	far := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	c := chart{from: noon, to: far}
	if n := len(c.ticks()); n < 1 || n > 8 {
		t.Errorf("%d ticks", n)
	}
}

// No duration that a file can have makes a call look silent that was just heard of.
func TestLanesOfLongestInterval(t *testing.T) {
	op := protocol.Create("op", "", math.MaxInt64/4*3, math.MaxInt64)
	op.Stack = []*protocol.Frame{{
		CallID: "a", ParticipantID: "p", State: protocol.FrameActive, StartTime: noon,
		Vitals: observe.Vitals{LastHeartbeat: noon},
	}}

	seen := observe.Observation{Now: noon.Add(time.Second)}
	for _, l := range operationLanes(model.Operation{Operation: op, Seen: seen}).lanes {
		if !l.silentSince.IsZero() {
			t.Errorf("%s: silent since %v", l.label, l.silentSince)
		}
	}
}

// Questions and commands are drawn in the order of their characters, whatever the scripts.
func TestDirection(t *testing.T) {
	if !strings.Contains(style, "\n.quote div,code{direction:ltr;unicode-bidi:bidi-override}\n") {
		t.Error("a browser may draw right-to-left letters in another order")
	}
}
