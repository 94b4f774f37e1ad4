package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// groupOf returns a group of supervisors, each with those that it depends on: "web:db,cache".
func groupOf(supervisors ...string) model.Group {
	g := model.Group{Group: group.Create("g"), Seen: observe.Observation{Now: noon}}
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

// policed is a group whose strategy restarts several services, with clocks and a job.
const policed = `{"supervision": {"strategy": "one_for_all",

	"intensity": 3, "intensityPeriodMs": 300000, "onIntensity": "park",
	"restarts": ["2026-01-01T11:59:58Z"], "set": ["store", "worker"]},
	"supervisors": {
		"migrate": {"order": 1, "state": "completed", "restart": "temporary",
			"startInfo": {"command": "m"}, "lastExit": {"at": "2026-01-01T11:59:00Z",
				"reason": "exited", "class": "success", "code": "exited", "status": 0}},
		"store": {"order": 2, "state": "restartScheduled", "restartAttempts": 1,
			"failedAt": "2026-01-01T11:59:58Z", "nextAttemptAt": "2026-01-01T12:00:12Z",
			"dependenciesCompleted": ["migrate"], "lastExit": {"at": "2026-01-01T11:59:58Z",
				"reason": "exited", "code": "killed", "status": 11}},
		"worker": {"order": 3, "state": "restartScheduled", "restartCause": "store",
			"dependencies": ["store"], "failedAt": "2026-01-01T11:59:58Z",
			"nextAttemptAt": "2026-01-01T12:00:12Z", "lastExit": {
				"at": "2026-01-01T11:59:58Z", "reason": "sibling", "detail": "store"}},
		"watch": {"order": 4, "state": "running", "startedAt": "2026-01-01T11:57:00Z",
			"startInfo": {"command": "x", "runtimeSoftMs": 240000, "runtimeMaxMs": 300000,
				"progressSoftMs": 60000, "budget": {"tokens": 600}}, "spent": {"tokens": 450},
			"asked": {"progress": {"at": "2026-01-01T11:59:50Z"}}}}}`

func TestGroupPolicy(t *testing.T) {
	g := groupOf()
	var err error
	if g.Registry, err = group.DecodeRegistry(policed); err != nil {
		t.Fatal(err)
	}

	for style, want := range map[Style]string{
		{}: `g: one_for_all, orchestrator none, 3 in trouble, 1 of 3 failures in 5m
  restart together, because of store: store, worker; in 12s

SERVICE       STATE             PID  LAST HEARTBEAT  RESTARTS  DEPENDS ON      JUDGED NOW  NOTE
migrate       completed         -    -               0         -               -           exited 0, dpl-restart starts it
└─ store      restartScheduled  -    -               1         end of migrate  -           killed by SIGSEGV, restart in 12s
   └─ worker  restartScheduled  -    -               0         store           -           stopped because of store, restart in 12s
watch         running           -    -               0         -               -           -

service watch has run for ▓▓▓▓▓▓░░░░ 3m of 5m, is asked for a checkpoint after 4m
service watch has made no progress for ▓▓▓▓▓▓▓▓▓▓ 3m of 1m, asked for a checkpoint 10s ago
service watch has spent ▓▓▓▓▓▓▓░░░ 450 of 600 tokens
`,
		{Width: 50, ASCII: true}: `g: one_for_all, orchestrator none, 3 in trouble, 1 of 3 failures in 5m
  restart together, because of store: store,
  worker; in 12s

SERVICE       STATE             TRIES
migrate       completed         0
|  exited 0, dpl-restart starts it
` + "`" + `- store      restartScheduled  1
   |  depends on end of migrate
   |  killed by SIGSEGV, restart in 12s
   ` + "`" + `- worker  restartScheduled  0
         stopped because of store, restart in 12s
watch         running           0
   has run for [######....] 3m of 5m, is asked for
   a checkpoint after 4m
   has made no progress for [##########] 3m of 1m,
   asked for a checkpoint 10s ago
   has spent [#######...] 450 of 600 tokens
`,
	} {
		if got := style.Group(g, ""); got != want {
			t.Errorf("%+v: got\n%s, want\n%s", style, got, want)
		}
	}
}

// A set of many services takes one line, whatever it waits for.
func TestManyRestartTogether(t *testing.T) {
	g := groupOf()
	for i := range 200 {
		s := group.Service{ID: fmt.Sprintf("s%03d", i)}
		s.State, s.RestartCause = group.StateScheduled, "s199"
		g.Registry.Services = append(g.Registry.Services, s)
		g.Registry.Supervision.Set = append(g.Registry.Supervision.Set, s.ID)
	}

	text := Style{}.Group(g, "")
	want := "  restart together: s000, s001, s002, s003, s004, s005, s006, s007 and 192 more\n"
	if got := strings.SplitAfter(text, "\n")[1]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
