package metrics

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	common "github.com/prometheus/common/model"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// nasty is what others may write into a file, where it is no id.
const nasty = "a\\b\"c\n# EOF\n{x=\"1\"} 1\xff"

// everything returns a ledger in which each metric has a value.
func everything() Subject {
	seen := observe.Observation{Now: noon.Add(90 * time.Second)}
	heard := observe.Vitals{LastHeartbeat: noon}

	op := protocol.Create("build", "", 0, 0)
	op.LastHeartbeat = noon
	op.Stack = []*protocol.Frame{
		{CallID: "main", ParticipantID: nasty, State: protocol.FrameActive, Vitals: heard},
		{CallID: "cc", ParticipantID: "cc", State: protocol.FrameCrashed, Vitals: heard},
	}

	g := group.Create("shop")
	g.Orchestrator.Heartbeat, g.Orchestrator.State = noon, group.OrchestratorRunning
	g.Registry.AlertSeq, g.Registry.AlertsGiven = 7, 5
	g.Registry.Services = []group.Service{{
		ID: "db", ServiceSpec: group.ServiceSpec{StartInfo: &group.StartInfo{Command: "db"}},
		ServiceStatus: group.ServiceStatus{State: group.StateRunning, Vitals: heard,
			StartedAt: noon,
			LastExit: &policy.Exit{At: noon, Code: policy.CodeKilled, Status: 9,
				CPU: 1500 * time.Millisecond, MaxRSS: 2, OOMKilled: true, Reason: nasty}},
		ServiceRecovery: group.ServiceRecovery{
			Silence: &group.Span{At: noon, Until: noon.Add(time.Hour), By: nasty}},
		ServiceReports: group.ServiceReports{
			SpentTotal: policy.Amounts{{Name: "tokens", N: 12}}},
	}, {
		ID: "web", ServiceStatus: group.ServiceStatus{State: group.StateDead},
		ServiceRecovery: group.ServiceRecovery{Maintenance: &group.Maintenance{
			Span: group.Span{At: noon, Until: noon.Add(time.Hour)}}},
	}}

	q := queue.Create("jobs")
	q.Halts = []queue.Halt{{By: nasty, Reason: nasty, At: noon}}
	q.Tasks = []*queue.Task{{ID: "t", State: queue.Waiting, EnqueuedAt: noon}}
	q.Counters = queue.Counters{Enqueued: 3, Claimed: 2, Done: 1, FirstClaims: 2,
		Waited: time.Second, Ran: 3 * time.Second,
		Ends: []queue.EndCount{{End: queue.Done, Count: 1}, {End: nasty, Count: 1}}}
	running := queue.Create("open")
	running.Tasks = []*queue.Task{{ID: "u", State: queue.Waiting, EnqueuedAt: noon}}
	asked := queue.Seen{Observation: observe.Observation{Now: noon}}
	ask, _, err := queue.Create("ask").Ask(queue.Question{ID: "q1", Kind: queue.AskPermission,
		Text: nasty, Expires: time.Hour, Asker: queue.Asker{Participant: "p"}}, asked)
	if err != nil {
		panic(err)
	}

	s := Subject{Now: seen.Now, Version: nasty, Counts: true, Calls: true,
		Unreadable: Unreadable{Operations: 2},
		Operations: []model.Operation{{Operation: op, Seen: seen}},
		Groups:     []model.Group{{Group: g, Seen: seen}}}
	for _, q := range []queue.Queue{q, running, ask} {
		s.Queues = append(s.Queues, model.NewQueue(q, queue.Seen{Observation: seen}))
	}
	return s
}

// parsed returns what Prometheus makes of text.
func parsed(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(common.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return families
}

// valueOf returns the value of the metric with these labels.
func valueOf(t *testing.T, f *dto.MetricFamily, labels string) float64 {
	t.Helper()
	for _, m := range f.GetMetric() {
		var all []string
		for _, l := range m.GetLabel() {
			all = append(all, l.GetName()+"="+l.GetValue())
		}
		if strings.Join(all, ",") != labels {
			continue
		}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			return m.GetCounter().GetValue()
		case dto.MetricType_SUMMARY:
			return m.GetSummary().GetSampleSum()
		}
		return m.GetGauge().GetValue()
	}
	t.Errorf("%s{%s} is missing", f.GetName(), labels)
	return -1
}

// The parser of node_exporter reads each metric, with its type, its help, and its labels whatever
// is in them.
func TestParsed(t *testing.T) {
	families := parsed(t, everything().Text())
	for _, c := range []struct {
		name, labels string
		want         float64
	}{
		{"dpl_build_info", "version=" + valid(nasty), 1},
		{"dpl_unreadable", "kind=operation", 2},
		{"dpl_calls", "state=crashed", 1},
		{"dpl_calls_undiscovered", "", 1},
		{"dpl_operation_state", "operation=build,state=running", 1},
		{"dpl_operation_heartbeat_age_seconds", "operation=build", 90},
		{"dpl_call_up", "operation=build,call=main,participant=" + valid(nasty), 0},
		{"dpl_group_pass_overdue", "group=shop", 1},
		{"dpl_group_pass_age_seconds", "group=shop", 90},
		{"dpl_group_alerts_total", "group=shop", 7},
		{"dpl_group_alerts_waiting", "group=shop", 2},
		{"dpl_service_up", "group=shop,service=db", 0},
		{"dpl_service_in_trouble", "group=shop,service=db", 1},
		{"dpl_service_spent_total", "group=shop,service=db,amount=tokens", 12},
		{"dpl_service_last_exit_status", "group=shop,service=db", 137},
		{"dpl_service_last_exit_cpu_seconds", "group=shop,service=db", 1.5},
		{"dpl_service_last_exit_max_rss_bytes", "group=shop,service=db", 2048},
		{"dpl_queue_tasks", "queue=jobs,state=held", 1},
		{"dpl_queue_oldest_ready_age_seconds", "queue=open", 90},
		{"dpl_queue_oldest_waiting_age_seconds", "queue=jobs", 90},
		{"dpl_queue_attempts_total", "queue=jobs,outcome=other", 1},
		{"dpl_queue_attempt_seconds", "queue=jobs", 3},
		{"dpl_questions_open", "queue=ask", 1},
		{"dpl_questions_oldest_age_seconds", "queue=ask", 90},
	} {
		if got := valueOf(t, families[c.name], c.labels); got != c.want {
			t.Errorf("%s{%s}: got %v, want %v", c.name, c.labels, got, c.want)
		}
	}

	for name, f := range families {
		counts := f.GetType() == dto.MetricType_COUNTER
		if f.GetHelp() == "" || f.GetType() == dto.MetricType_UNTYPED ||
			counts != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: type %v, help %q", name, f.GetType(), f.GetHelp())
		}
	}
}

// A ledger that does more work does not have more series.
func TestSeriesAreBounded(t *testing.T) {
	series := func(n int) (all int) {
		s := everything()
		s.Calls = false
		for i := range n {
			s.Operations = append(s.Operations, s.Operations[0])
			s.Queues[1].Places = append(s.Queues[1].Places, s.Queues[1].Places[0])
			q := &s.Queues[0].Queue
			q.Counters.Ends = append(q.Counters.Ends,
				queue.EndCount{End: queue.End(fmt.Sprint(i)), Count: 1})
		}
		for _, f := range parsed(t, s.Text()) {
			all += len(f.GetMetric())
		}
		return all
	}

	if one, many := series(1), series(100); one != many {
		t.Errorf("%d series become %d", one, many)
	}
}

// An unknown value is left out, and the counts of an empty ledger are 0.
func TestEmpty(t *testing.T) {
	text := Subject{Now: noon, Counts: true}.Text()
	families := parsed(t, text)
	if got := valueOf(t, families["dpl_operations"], "state=running"); got != 0 {
		t.Errorf("got %v operations", got)
	}
	if len(families) != 6 || !strings.HasSuffix(text, "\n# EOF\n") {
		t.Errorf("%d metrics:\n%s", len(families), text)
	}
}

// promtool, which people check such files with, has nothing to say.
func TestPromtool(t *testing.T) {
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skipf("needs promtool (Debian: prometheus): %v", err)
	}

	cmd := exec.Command(path, "check", "metrics")
	cmd.Stdin = strings.NewReader(everything().Text())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The page about metrics lists them all, in their order.
func TestListed(t *testing.T) {
	page, err := os.ReadFile("../../../../spec/observing.md")
	if err != nil {
		t.Fatal(err)
	}

	var listed, written []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(dpl_[a-z_]+)` ").FindAllSubmatch(page, -1) {
		listed = append(listed, string(m[1]))
	}
	for line := range strings.Lines(everything().Text()) {
		if name, is := strings.CutPrefix(line, "# TYPE "); is {
			written = append(written, strings.Fields(name)[0])
		}
	}
	if !slices.Equal(listed, written) {
		t.Errorf("spec/observing.md lists\n%q\nand these are written:\n%q", listed, written)
	}
}
