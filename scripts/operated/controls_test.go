//go:build linux

package operated

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// scene returns a look at worker, which lives with the pid 10, and at noisy, which had the pid 20.
// It has ended, and no pass has noticed. All answers of DPL are right.
func scene() look {
	now := time.Now()
	s := snapshot{
		at: now, heartbeat: now, period: pause, revision: 7,
		starts: []string{"worker a 10", "noisy b 20"},
		processes: map[int]process{
			9:  {pid: 9, parent: 1, state: 'S', words: []string{"dpl-keeper", "exits/shop/worker~a.tmp"}},
			10: {pid: 10, parent: 9, state: 'S', words: []string{"sh", "service.sh"}, start: "a"},
		},
		entries: map[string]entry{
			"worker": {State: "running", PID: 10, StartID: "a"},
			"noisy":  {State: "running", PID: 20, StartID: "b"},
		},
	}

	l := look{before: s, after: s, asked: services, said: map[string]answer{
		"healthy": {"", "1"}, "running worker": {"", "0"}, "ready worker": {"", "0"},
		"why worker":    {"shop: service worker is running.\nIts process, 10, exists, and so on.\n", "0"},
		"running noisy": {"", "1"}, "ready noisy": {"", "1"},
		"why noisy": {"shop: service noisy is running.\nThere is evidence that it is dead: exited.\n", "0"},
	}}
	l.show(shown{SupervisorID: "worker", State: "running", Verdict: "alive", PID: 10},
		shown{SupervisorID: "noisy", State: "running", Verdict: "exited", PID: 20, InTrouble: true})
	return l
}

// show has JSON, page and metrics show these services.
func (l *look) show(all ...shown) {
	text, _ := json.Marshal(map[string]any{"supervisors": all})
	l.said["json"] = answer{string(text), "0"}
	l.said["again"] = l.said["json"]
	page, metrics := "", "\n"
	number := map[bool]int{true: 1}
	for _, s := range all {
		page += fmt.Sprintf(`<li><b class="id">%s</b><span class="pill good">%s</span>`, s.SupervisorID,
			s.State)
		if s.Verdict != "alive" {
			page += fmt.Sprintf(`<span class="pill bad">%s</span>`, s.Verdict)
		}
		page += fmt.Sprintf("<span class=\"fact\"><i>pid</i> %d</span>\n", s.PID)
		labels := fmt.Sprintf("{group=%q,service=%q", group, s.SupervisorID)
		metrics += fmt.Sprintf("dpl_service_up%s} %d\n", labels, number[s.Verdict == "alive"]) +
			fmt.Sprintf("dpl_service_in_trouble%s} %d\n", labels, number[s.InTrouble]) +
			fmt.Sprintf("dpl_service_state%s,state=%q} 1\n", labels, s.State)
	}
	l.said["page"], l.said["metrics"] = answer{page, "0"}, answer{metrics, "0"}
}

// wrong returns the names of the comparisons of l that differ.
func (l look) wrong() (all []string) {
	for _, v := range l.judge() {
		if !v.right {
			all = append(all, strings.TrimSpace(v.rule+" "+v.service))
		}
	}
	return all
}

// TestJudge checks that each false statement is found, and nothing else.
func TestJudge(t *testing.T) {
	t.Parallel()
	replace := func(l *look, name, from, to string) {
		a := l.said[name]
		if !strings.Contains(a.text, from) {
			t.Errorf("%s has no %q: %s", name, from, a.text)
		}
		l.said[name] = answer{strings.ReplaceAll(a.text, from, to), a.status}
	}

	for _, c := range []struct {
		name   string
		change func(l *look)
		want   []string
	}{
		{"true", func(*look) {}, nil},
		{"the dead are shown as alive", func(l *look) {
			replace(l, "json", `"Verdict":"exited"`, `"Verdict":"alive"`)
		}, []string{"alive noisy"}},
		{"the living are shown as dead", func(l *look) {
			replace(l, "json", `"Verdict":"alive"`, `"Verdict":"exited"`)
		}, []string{"alive worker"}},
		{"stopped", func(l *look) {
			p := l.before.processes[10]
			p.state = 'T'
			l.before.processes[10] = p
		}, []string{"stopped worker", "--why worker"}},
		{"the dead run", func(l *look) { l.said["running noisy"] = answer{"", "0"} },
			[]string{"--check running noisy"}},
		{"the living do not run", func(l *look) { l.said["running worker"] = answer{"", "1"} },
			[]string{"--check running worker"}},
		{"the dead are ready", func(l *look) { l.said["ready noisy"] = answer{"", "0"} },
			[]string{"--check ready noisy"}},
		{"healthy", func(l *look) { l.said["healthy"] = answer{"", "0"} }, []string{"--check healthy"}},
		{"the dead exist", func(l *look) {
			replace(l, "why noisy", "There is evidence", "There is no evidence")
		}, []string{"--why noisy"}},
		{"the page hides a verdict", func(l *look) {
			replace(l, "page", `<span class="pill bad">exited</span>`, "")
		}, []string{"page noisy"}},
		{"the metrics hide a death", func(l *look) {
			replace(l, "metrics", `dpl_service_up{group="shop",service="noisy"} 0`,
				`dpl_service_up{group="shop",service="noisy"} 1`)
		}, []string{"metrics noisy"}},
		{"a hung pass", func(l *look) {
			delete(l.before.entries, "noisy")
			l.before.heartbeat = l.before.at.Add(-time.Minute)
			l.said["healthy"] = answer{"", "0"}
		}, []string{"--check healthy"}},
	} {
		l := scene()
		c.change(&l)
		if got := l.wrong(); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTwoStarts checks that two starts of a service are seen.
func TestTwoStarts(t *testing.T) {
	t.Parallel()
	s := scene().before
	s.processes[19] = process{pid: 19, parent: 1, state: 'S',
		words: []string{"dpl-keeper", "exits/shop/worker~c.tmp"}}
	s.processes[20] = process{pid: 20, parent: 19, state: 'S', words: []string{"sh"}, start: "c"}
	got := s.living()["worker"]
	slices.Sort(got)
	if want := []string{"a", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLasting checks that a difference in two looks in a row is found, and no other.
func TestLasting(t *testing.T) {
	t.Parallel()
	right := verdict{rule: aliveRule, service: "web", start: "a", right: true}
	wrong, other := right, right
	wrong.right, other.right = false, false
	other.start = "b"
	for _, c := range []struct {
		looks []verdict
		want  int
	}{
		{[]verdict{wrong, wrong}, 1}, {[]verdict{wrong, right, wrong}, 0}, {[]verdict{wrong, other}, 0},
		{[]verdict{wrong, wrong, wrong}, 2},
	} {
		var r record
		got := 0
		for _, v := range c.looks {
			got += len(r.take([]verdict{v}))
		}
		if got != c.want {
			t.Errorf("%+v: found %d, want %d", c.looks, got, c.want)
		}
	}
}

// TestDue checks which alerts a hook must get.
func TestDue(t *testing.T) {
	t.Parallel()
	all := []alert{
		{Seq: 1, Type: "supervisorFailed", SupervisorID: "web", Timestamp: "x"},
		{Seq: 2, Type: "supervisorRestarted", SupervisorID: "web", Timestamp: "x"},
		{Seq: 3, Type: "supervisorFailed", SupervisorID: "web", Timestamp: "y"},
		{Seq: 4, Type: "supervisorRestarted", SupervisorID: "web", Timestamp: "z"},
	}
	if got, want := due(all), []int{2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
