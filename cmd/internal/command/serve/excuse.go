package serve

import (
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Excuse returns why the command may be silent.
func (r *registration) Excuse() runner.Excuse {
	g, err := r.ledger.ReadGroup(r.group)
	if err != nil {
		return runner.Excuse{Unknown: true}
	}
	if isIdleService(g, r.self.Service) {
		return runner.Excuse{Idle: g.Registry.Revision}
	}
	return runner.Excuse{}
}

func isIdleService(g group.Group, id string) bool {
	s := g.Service(id)
	return s != nil && s.Notice.Readiness == observe.ReadinessIdle
}

// Spoke says that there was output since the service was found idle in the file of that revision.
func (r *registration) Spoke(revision int64) { r.awake.Store(revision) }

// report returns say, with the news that the service is ready again, if there was output since it
// was last said to be idle.
func (r *registration) report(g group.Group, say observe.Report) observe.Report {
	ours := func(e observe.Event) bool {
		return e.Type == observe.SupervisorReadiness && e.SupervisorID == r.self.Service
	}
	over := runner.IdleIsOver(g.Registry.Events, ours, r.awake.Load())
	if over && isIdleService(g, r.self.Service) && say.Readiness == "" {
		say.Readiness = observe.ReadinessReady
	}
	return say
}
