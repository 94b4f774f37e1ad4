package group

import (
	"slices"
	"testing"
)

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
