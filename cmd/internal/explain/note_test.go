package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// groupOf returns a group of supervisors, each with those that it depends on: "web:db,cache".
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

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

func TestNote(t *testing.T) {
	exit := &policy.Exit{At: noon, Reason: "exited", Error: "exit status 7"}
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
			LastExit: &policy.Exit{Reason: "stopped"}}},
	} {
		if got := explain.Note(groupOf().Judged(&r)); got != want {
			t.Errorf("%s: got %q, want %q", r.State, got, want)
		}
	}
}

func TestEnding(t *testing.T) {
	const exited = policy.CodeExited
	for want, e := range map[string]policy.Exit{
		"exited 1": {Reason: "exited", Code: exited, Status: 1, Class: policy.Failure},
		"exited 75 (tempfail)": {Reason: "exited", Code: exited, Status: 75,
			Class: policy.Tempfail},
		"killed by SIGSEGV, core dumped": {Reason: "exited", Code: policy.CodeDumped, Status: 11},
		"killed by SIG7: timed out": {Reason: "exited", Code: policy.CodeKilled, Status: 7,
			Error: "timed out"},
		"killed by SIG64":             {Reason: "exited", Code: policy.CodeKilled, Status: 64},
		"exited, nobody saw how":      {Reason: "exited"},
		"did not start: no such file": {Reason: "startFailed", Error: "no such file"},
		"timeout: runtime, exited 143": {Reason: "timeout", Detail: "runtime", Code: exited,
			Status: 143},
		"stopped because of db": {Reason: "sibling", Detail: "db"},
		"stopped, exited 0":     {Reason: "stopped", Code: exited},
		"rebooted (hostLost)":   {Reason: "rebooted", Class: policy.HostLost},
	} {
		if got := explain.Ending(&e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
