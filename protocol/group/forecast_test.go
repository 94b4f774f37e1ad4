package group_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// checkForecast checks that what Foresee says of each service of g is what the pass d, with the
// request p, does about it. It reports whether it could: it is about a pass that a timer makes, for
// the owner of the group, with the settings that are recorded, room for all starts, and no health
// checks.
func checkForecast(t *testing.T, g group.Group, p plan.Request, d *plan.Decision,
	seen observe.Observation) bool {
	t.Helper()
	settings := plan.Request{Owner: p.Owner, PID: p.PID, State: p.State, Failover: p.Failover,
		Hook: p.Hook, LastAlert: p.LastAlert}
	look, children := p.Exit, p.Child
	if p.Exit, p.Child = nil, nil; !reflect.DeepEqual(p, settings) || d.StandBy ||
		g.Registry.Owner != "" && g.Registry.Owner != p.Owner {
		return false
	}

	g.Orchestrator.Failover = p.Failover
	witnessed, _ := g.WithEnds(look, seen)
	for _, id := range g.Registry.Ordered() {
		next, err := plan.Foresee(witnessed, id, look, children, seen)
		if err != nil {
			t.Fatal(err)
		}
		now := slices.DeleteFunc(next.Now, func(step plan.Step) bool { return step.If != "" })
		if did := d.About(id); !slices.Equal(now, did) {
			t.Errorf("%s: the forecast is %v, and the pass does %v", id, now, did)
		}
	}
	return true
}
