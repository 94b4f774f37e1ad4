package testscripts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// TestClockStepsGroup is TestClockSteps for services: passes neither restart nor signal a service
// that sends heartbeats, and no other owner takes over from an active one.
func TestClockStepsGroup(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		w := newClockWorld(seed)
		g := &groupRun{t: t, w: w, ledger: newTestLedger(t)}
		for i := range 3 {
			g.register(fmt.Sprint("s", i))
		}

		for range 100 {
			g.turn()
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, strings.Join(w.story, "\n"))
			}
		}
	}
}

// groupRun is a group whose services send heartbeats while the clocks are set.
type groupRun struct {
	t      *testing.T
	w      *clockWorld
	ledger *fileops.Ledger
	all    []group.Registration
}

func (r *groupRun) edit(verb func(g group.Group) (group.Group, error)) {
	r.t.Helper()
	err := r.ledger.HoldGroup("g", fileops.OrCreate, func(tx *fileops.GroupTx) error {
		after, err := verb(tx.Value())
		if err != nil {
			return err
		}
		return tx.Commit(after)
	})

	if err != nil {
		r.t.Fatalf("%v\n%s", err, strings.Join(r.w.story, "\n"))
	}
}

// register registers a service that would be restarted. It promises heartbeats, because a service
// whose process exists is never stale otherwise.
func (r *groupRun) register(id string) {
	yes := true
	p := r.w.start()
	reg := group.Registration{
		Service: id, By: id, PID: p.PID, Process: p, Restartable: &yes, Heartbeats: &yes,
		StartInfo: &group.StartInfo{Command: "/bin/true", Policy: policy.DefaultPolicy(),
			Readiness: observe.ReadinessReady, LogKeep: 1},
	}
	r.edit(func(g group.Group) (group.Group, error) { return g.Register(reg, r.w.observe()) })
	r.all = append(r.all, reg)
}

func (r *groupRun) turn() {
	r.t.Helper()
	w := r.w
	w.pass(time.Duration(w.rand.IntN(2000)) * time.Millisecond)
	if w.rand.IntN(4) == 0 {
		w.upset()
	}

	r.edit(func(g group.Group) (group.Group, error) {
		d, err := plan.Pass(g, plan.Request{Owner: "one", PID: 1}, awake(w.observe()))
		if err != nil {
			return g, err
		}
		r.quiet("one", d, false)
		return d.Group(), nil
	})

	r.edit(func(g group.Group) (group.Group, error) {
		d, err := plan.Pass(g, plan.Request{Owner: "other", PID: 2}, awake(w.observe()))
		if err != nil {
			return g, err
		}

		r.quiet("other", d, true)
		if g.Deserted(w.observe()) {
			r.t.Error("the group is taken for deserted")
		}
		return g, nil
	})

	for _, s := range r.all {
		r.edit(func(g group.Group) (group.Group, error) {
			after, verdict, err := g.BeatService(group.ServiceProcess{Service: s.Service,
				PID: s.PID, Process: s.Process}, observe.Report{}, w.observe())
			if verdict != observe.VerdictContinue {
				r.t.Errorf("the heartbeat of %s: %s", s.Service, verdict)
			}
			return after, err
		})
	}
}

// awake is the observation of one that has looked all the time, and so grants no window to those
// that look silent.
func awake(seen observe.Observation) observe.Observation {
	seen.Watch = observe.Awake
	return seen
}

// quiet checks that a pass finds nothing to do.
func (r *groupRun) quiet(owner string, d *plan.Decision, standBy bool) {
	r.t.Helper()
	if d.StandBy != standBy || len(d.Actions) > 0 {
		r.t.Errorf("pass of %s: stands by: %t, actions %+v", owner, d.StandBy, d.Actions)
	}

	for _, s := range d.Group().Registry.Services {
		if s.State != group.StateRunning || s.LastExit != nil {
			r.t.Errorf("pass of %s: %s is %s, %+v", owner, s.ID, s.State, s.LastExit)
		}
	}
}
