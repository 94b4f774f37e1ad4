package group

import (
	"slices"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// What lives although it is stopped is found: the recorded process, or one of another start. One
// that may live in another pid namespace of the same boot is hidden; one of another host is not.
func TestOutlives(t *testing.T) {
	t.Parallel()
	p := observe.Process{PID: 7, HostID: "h", BootID: "b", PIDNamespace: "1", StartTicks: 1}
	stopped := Service{ID: "s", ServiceStatus: ServiceStatus{State: StateStopped}}
	recorded := stopped
	recorded.SetProcess(7, p)
	running := recorded
	running.State = StateRunning

	in := func(host, namespace string, gone bool, kept int) observe.Observation {
		return observe.Observation{Host: observe.Host{ID: host, BootID: "b", PIDNamespace: namespace},
			Look: func(observe.Process) observe.Presence {
				if gone {
					return observe.Gone
				}
				return observe.Present
			},
			Kept: func(string, string, string) int { return kept }}
	}
	for _, tt := range []struct {
		name   string
		s      Service
		seen   observe.Observation
		pid    int
		hidden bool
	}{
		{"lives", recorded, in("h", "1", false, 0), 7, false},
		{"gone", recorded, in("h", "1", true, 0), 0, false},
		{"runs", running, in("h", "1", false, 9), 0, false},
		{"another start", stopped, in("h", "1", true, 9), 9, false},
		{"nothing", stopped, in("h", "1", true, 0), 0, false},
		{"hidden", recorded, in("h", "2", false, 0), 0, true},
		{"another host", recorded, in("i", "2", false, 0), 0, false},
	} {
		if pid := (Group{}).Outlives(&tt.s, tt.seen); pid != tt.pid {
			t.Errorf("%s: got %d, want %d", tt.name, pid, tt.pid)
		}
		if hidden := tt.s.Hidden(tt.seen); hidden != tt.hidden {
			t.Errorf("%s: hidden is %v", tt.name, hidden)
		}
	}
}

// A wait for a service to stop includes all services that are stopped before it, even if the
// service was already dead.
func TestShuttingDown(t *testing.T) {
	t.Parallel()
	states := func(db, web, other ServiceState) Group {
		return Group{Registry: Registry{Services: []Service{
			{ID: "db", ServiceStatus: ServiceStatus{State: db}},
			{ID: "other", ServiceStatus: ServiceStatus{State: other}},
			{
				ID: "web", ServiceStatus: ServiceStatus{State: web},
				ServiceSpec: ServiceSpec{Dependencies: []string{"db"}},
			},
		}}}
	}

	for _, c := range []struct {
		g    Group
		want []string
	}{
		{states(StateRunning, StateRunning, StateShuttingDown), nil},
		{states(StateShuttingDown, StateShuttingDown, StateShuttingDown), []string{"web", "db"}},
		{states(StateShuttingDown, StateStopped, StateRunning), []string{"db"}},
		{states(StateStopped, StateShuttingDown, StateRunning), []string{"web"}},
		{states(StateStopped, StateStopped, StateRunning), nil},
	} {
		if got := c.g.ShuttingDown("db"); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.g.Registry.Services, got, c.want)
		}
	}

	if got := (Group{}).ShuttingDown("gone"); len(got) != 0 {
		t.Errorf("got %v of none", got)
	}
}
