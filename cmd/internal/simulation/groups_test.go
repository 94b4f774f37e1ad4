package simulation

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

const groupID = "g"

var supervisorIDs = []string{"S1", "S2", "S3"}

// ids returns the services that operators ask for.
func (w *world) ids() []string {
	if w.tree {
		return []string{"S1", "S2", "S3", treeID, treeID, "S4"}
	}
	return supervisorIDs
}

// groupProgram makes something run on h.
func (w *world) groupProgram(name string, h *host) {
	p := h.spawn(nil)
	switch w.r.IntN(8) {
	case 0, 1, 2:
		w.start("orchestrator-"+name, p, passing(w.between(2, 6)))
	case 3, 4, 5:
		w.start("operator-"+name, p, operating(w.between(1, 4)))
	case 6, 7:
		p.role = supervisorIDs[w.r.IntN(2)]
		w.start(p.role+"-"+name, p, registering(p.role))
	}
}

// passing makes passes.
func passing(times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			id := groupID
			if a.w.tree && !a.w.chance(5) {
				id = rootID
			}
			a.orchestrate(id, a.p.host.id)
			a.sleep(a.w.pick3(500, 100, 2500))
		}
	}
}

// operating asks for supervisors to be started and stopped.
func operating(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			id := w.ids()[w.r.IntN(len(w.ids()))]
			what := w.r.IntN(8)
			if id == treeID && w.chance(2) {
				what = 2 // it begins anew
			}
			switch what {
			case 0:
				a.shutdown(id, w.chance(4))
			case 1:
				a.remove(id)
			case 2:
				a.restart(id, w.chance(4))
			case 3:
				a.maintain(id, time.Duration(w.r.IntN(3)*w.between(0, 4000))*time.Millisecond)
			default:
				a.register(a.request(id))
			}

			a.sleep(w.pick3(300, 0, 2500))
		}
	}
}

// request returns the arguments of a registration that a pass must start.
func (a *actor) request(id string) group.Registration {
	w := a.w
	wait := time.Duration(w.between(0, 600)) * time.Millisecond
	r := group.Registration{
		Service: id, By: a.name, Request: true, KillTimeout: &wait, Fresh: w.chance(20),
		StartInfo: &group.StartInfo{
			Command: "sup", Dir: "/", Readiness: observe.ReadinessReady,
			LogMax: group.DefaultLogMax, LogKeep: 1,
			Policy: policy.RestartPolicy{
				MaxAttempts: w.between(0, 2), Backoff: []time.Duration{0, interval},
				ResetAfter: time.Minute,
			},
		},
	}

	if w.chance(2) {
		r.Heartbeats = ptr(true)
	}
	if w.chance(3) {
		r.StartInfo.RuntimeSoft, r.StartInfo.RuntimeMax = runtimeSoft, runtimeMax
	}
	r.Significant, r.Resume = ptr(w.chance(2)), w.chance(3)
	if w.tree {
		r.Resume, r.Fresh = w.chance(20), w.chance(60)
	}
	if w.chance(4) || w.tree && w.chance(3) {
		r.OnDead = ptr(policy.OnDeadEscalate)
	}
	r.Restart = restartTypes[w.r.IntN(len(restartTypes))]
	switch {
	case id == treeID:
		r.StartInfo.Command, r.StartInfo.Dir, r.StartInfo.Group = "", "", groupID
		r.StartInfo.RuntimeSoft, r.StartInfo.RuntimeMax = 0, 0
		r.StartInfo.Policy.MaxAttempts = w.between(0, 4)
		r.Heartbeats = nil
	case id == "S4":
	case id != "S1" && !w.chance(3):
		r.Dependencies = &[]string{"S1"}
	}
	if groupOf(id) == groupID && (r.Resume || r.Fresh) {
		w.resumed = true
	}

	return r
}

var restartTypes = []policy.RestartType{
	policy.Permanent, policy.Permanent, policy.Transient, policy.Temporary,
}

func ptr[T any](v T) *T { return &v }

// registering is a service that registers itself, sends heartbeats, and ends or hangs.
func registering(id string) func(a *actor) {
	return func(a *actor) {
		r := group.Registration{Service: id, By: a.name, PID: a.p.PID, Process: a.p.Process}
		if a.w.chance(2) {
			r.Heartbeats = ptr(true)
		}

		for range 3 {
			switch a.register(r) {
			case cli.StatusOK:
				a.p.acts = true
				supervised(id)(a)
				return
			case statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCommitted, cli.StatusCreate:
			default:
				return
			}
		}
	}
}

// supervised is the program of a service: it sends heartbeats, leaves children behind, ends, and
// hangs.
func supervised(id string) func(a *actor) {
	return func(a *actor) {
		w := a.w
		stubborn, naps := w.chance(3), w.chance(2)
		a.status = w.exitStatus()
		for range w.between(1, 6) {
			if naps { // it is stale for a while, and lives
				a.sleep(w.between(1900, 3000))
			} else {
				a.sleep(w.pick3(400, 100, 3000))
			}

			switch {
			case a.term && !stubborn, w.chance(10):
				return
			case w.chance(6) && a.p.startID != "":
				child := a.p.host.spawn(a.p) // in its session, unless it leaves that
				if w.chance(3) {
					child.session = child.PID
				}
			}

			if status := a.beatService(id); status == cli.StatusCrashed ||
				status == cli.StatusCleanUp || status == cli.StatusRefused {
				return
			}
		}

		if a.hangs = w.chance(4); a.hangs {
			w.tell("%s hangs", a.name)
		}
	}
}
