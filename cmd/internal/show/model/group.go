package model

import (
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Group is a group to show, with an observation.
type Group struct {
	group.Group
	Seen    observe.Observation
	LogPath func(service string) string // nil if unknown
}

// Troubled returns how many services of g are in trouble.
func (g Group) Troubled() (n int) {
	for _, s := range g.Services() {
		if s.InTrouble() {
			n++
		}
	}
	return n
}

// Healthy reports whether no service of g is in trouble, and g has not ended and is looked after.
func (g Group) Healthy() bool { return g.supervised() && g.Troubled() == 0 }

// HealthyService reports whether the service id is not in trouble, and g has not ended and is
// looked after.
func (g Group) HealthyService(id string) bool {
	return g.supervised() && !g.Judged(g.Service(id)).InTrouble()
}

func (g Group) supervised() bool {
	return g.LookedAfter(g.Seen) && g.Registry.Supervision.End.State == group.GroupRunning
}

// Running returns the number of services of g that run, as judged now.
func (g Group) Running() (n int) {
	for i := range g.Registry.Services {
		if g.Is(&g.Registry.Services[i], group.StateRunning, g.Seen) {
			n++
		}
	}
	return n
}

// Orchestrated returns the state of the orchestrator, or that it is silent.
func (g Group) Orchestrated() string {
	heard, _ := g.OrchestratorHeard(g.Seen)
	switch {
	case g.Orchestrator.Heartbeat.IsZero():
		return "none"
	case heard || g.Orchestrator.State == group.OrchestratorStopped:
		return string(g.Orchestrator.State)
	}
	return "stale"
}
