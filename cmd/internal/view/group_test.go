package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// groupOf returns a group of supervisors, each with those that it depends on: "web:db,cache".
func groupOf(supervisors ...string) Group {
	g := Group{Group: group.Create("g"), Seen: observe.Observation{Now: noon}}
	for _, s := range supervisors {
		id, on, _ := strings.Cut(s, ":")
		r := group.Service{ID: id}
		r.State = group.StateRegistered
		if on != "" {
			r.Dependencies = strings.Split(on, ",")
		}
		g.Registry.Services = append(g.Registry.Services, r)
	}

	return g
}

func TestGroup(t *testing.T) {
	g := groupOf("web:db,cache", "queue:db", "mail:queue", "db", "cache", "lost:none")
	for style, want := range map[Style]string{
		{}: `g: orchestrator none

SERVICE     STATE       PID  LAST HEARTBEAT  RESTARTS  DEPENDS ON  JUDGED NOW  NOTE
cache       registered  -    -               0         -           -           -
db          registered  -    -               0         -           -           -
├─ queue    registered  -    -               0         db          -           -
│  └─ mail  registered  -    -               0         queue       -           -
└─ web      registered  -    -               0         db,cache    -           -
lost        registered  -    -               0         none        -           -
`,
		{Width: 44, ASCII: true}: `g: orchestrator none

SERVICE     STATE       RESTARTS  DEPENDS ON
cache       registered  0         -
db          registered  0         -
|- queue    registered  0         db
|  ` + "`" + `- mail  registered  0         queue
` + "`" + `- web      registered  0         db,cache
lost        registered  0         none
`,
		{Width: 36, ASCII: true}: `g: orchestrator none

SERVICE     STATE       TRIES
cache       registered  0
db          registered  0
|- queue    registered  0
|  ` + "`" + `- mail  registered  0
` + "`" + `- web      registered  0
      depends on db,cache
lost        registered  0
   depends on none
`,
	} {
		if got := style.Group(g, ""); got != want {
			t.Errorf("%+v: got\n%s, want\n%s", style, got, want)
		}
	}
}

// Each service is drawn once, even if dependencies form a cycle: a file may have been edited by
// hand.
func TestGroupCycles(t *testing.T) {
	for _, supervisors := range [][]string{{"a:a"}, {"a:b", "b:a"}, {"a:b", "b:c", "c:b"},
		{"a:b,c", "b:c,a", "c:a", "d:a", "e:d,x"}} {
		var got []string
		for _, s := range groupOf(supervisors...).Tree() {
			got = append(got, s.ID)
		}
		if slices.Sort(got); len(got) != len(supervisors) ||
			len(slices.Compact(got)) != len(supervisors) {
			t.Errorf("%v: got %v", supervisors, got)
		}
	}
}

func TestNote(t *testing.T) {
	exit := &group.LastExit{At: noon, Reason: "exited", Error: "exit status 7"}
	type status = group.ServiceStatus
	type recovery = group.ServiceRecovery

	for want, r := range map[string]group.Service{
		"": {ServiceStatus: status{State: group.StateRegistered}},
		"blocked by db: dead": {ServiceStatus: status{State: group.StateWaiting},
			ServiceRecovery: recovery{BlockedBy: "db: dead"}},
		"restart in 3s": {ServiceStatus: status{State: group.StateScheduled},
			ServiceRecovery: recovery{NextAttemptAt: noon.Add(3 * time.Second)}},
		"restart in 0s": {ServiceStatus: status{State: group.StateScheduled},
			ServiceRecovery: recovery{NextAttemptAt: noon.Add(-time.Second)}},
		"asked to end 2s ago": {ServiceStatus: status{State: group.StateShuttingDown},
			ServiceRecovery: recovery{TermSentAt: noon.Add(-2 * time.Second)}},
		"starting: warming up": {ServiceStatus: status{State: group.StateRunning,
			Notice: observe.Notice{Readiness: observe.ReadinessStarting, Note: "warming up"}}},
		"exited: exit status 7": {ServiceStatus: status{State: group.StateDead, LastExit: exit}},
		"stopped": {ServiceStatus: status{State: group.StateStopped,
			LastExit: &group.LastExit{Reason: "stopped"}}},
	} {
		if got := groupOf().judged(&r).Note(); got != want {
			t.Errorf("%s: got %q, want %q", r.State, got, want)
		}
	}
}
