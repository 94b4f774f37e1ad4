package metrics

import (
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
)

func groupLabels(g model.Group) []string { return []string{"group", g.ID} }

func groupMetrics() []metric[model.Group] {
	type grp = model.Group
	return []metric[grp]{
		{family{"dpl_group_services", gauge, "Services of the group by state."},
			func(g grp) []sample {
				states := newCount(serviceStates()...)
				for _, s := range g.Registry.Services {
					states.add(s.State)
				}
				return states.samples("state")
			}},
		{family{"dpl_group_services_in_trouble", gauge,
			"Services that should run and do not, are blocked, or cannot be checked."},
			value(func(g grp) float64 { return float64(g.Troubled()) })},
		{family{"dpl_group_pass_age_seconds", gauge, "Since the last pass over the group."},
			known(func(g grp) (float64, bool) {
				_, age := g.OrchestratorHeard(g.Seen)
				return seconds(age), !g.Orchestrator.Heartbeat.IsZero()
			})},
		{family{"dpl_group_pass_overdue", gauge,
			"1 if the last pass is longer ago than the staleness of the group, or there was none."},
			flag(overdue)},
		{family{"dpl_group_ended", gauge, "1 if the group has ended, or is ending."},
			flag(func(g grp) bool { return g.Registry.Supervision.End.State != group.GroupRunning })},
		{family{"dpl_group_alerts_total", counter, "Alerts that were raised."},
			value(func(g grp) float64 { return float64(g.Registry.AlertSeq) })},
		{family{"dpl_group_alerts_waiting", gauge,
			"Alerts that were not given to --on-alert yet; absent if no pass had it."},
			known(func(g grp) (float64, bool) {
				r := g.Registry
				return float64(max(r.AlertSeq-r.AlertsGiven, 0)), r.AlertsGiven != group.NoneGiven
			})},
	}
}

// overdue reports whether a pass over g should have been made.
func overdue(g model.Group) bool {
	switch g.Orchestrated() {
	case "stale":
		return true
	case "none":
		return len(g.Registry.Services) > 0
	}
	return false
}

func serviceStates() []group.ServiceState {
	return []group.ServiceState{
		group.StateRegistered, group.StateWaiting, group.StateRunning, group.StateFailed,
		group.StateScheduled, group.StateDead, group.StateShuttingDown, group.StateStopped,
		group.StateCompleted,
	}
}
