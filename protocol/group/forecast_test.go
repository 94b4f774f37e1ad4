package group

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// CheckForecast checks that what Why says of each service of g is what the pass d, with the request
// p, does about it, and reports whether it could: it is about a pass that a timer makes, for the
// owner of the group, with the settings that are recorded, room for all starts, and no health
// checks.
func CheckForecast(t *testing.T, g Group, p PassRequest, d *Decision, seen observe.Observation) bool {
	t.Helper()
	settings := PassRequest{Owner: p.Owner, PID: p.PID, State: p.State, Failover: p.Failover,
		Hook: p.Hook, LastAlert: p.LastAlert}
	look, children := p.Exit, p.Child
	if p.Exit, p.Child = nil, nil; !reflect.DeepEqual(p, settings) || d.StandBy ||
		g.Registry.Owner != "" && g.Registry.Owner != p.Owner {
		return false
	}

	g.Orchestrator.Failover = p.Failover
	witnessed, _ := g.WithEnds(look, seen)
	for _, id := range g.Registry.ordered() {
		why, err := witnessed.Why(id, look, children, seen)
		if err != nil {
			t.Fatal(err)
		}
		why.Now = slices.DeleteFunc(why.Now, func(step string) bool {
			return strings.HasSuffix(step, ifCheck(true)) || strings.HasSuffix(step, ifCheck(false))
		})
		if did := d.about(id); (len(did) > 0 || len(why.Now) > 0) && !reflect.DeepEqual(why.Now, did) {
			t.Errorf("%s: the forecast is %q, and the pass does %q", id, why.Now, did)
		}
	}
	return true
}
