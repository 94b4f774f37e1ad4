package metrics

import (
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

func serviceLabels(s model.Service) []string {
	return []string{"group", s.Group.ID, "service", s.ID}
}

func serviceMetrics() []metric[model.Service] { return append(serviceNow(), serviceBefore()...) }

// serviceNow has what a service is like.
func serviceNow() []metric[model.Service] {
	type service = model.Service
	return []metric[service]{
		{family{"dpl_service_up", gauge, "1 if the service is running and alive, as judged now."},
			flag(func(s service) bool { return s.State == group.StateRunning && !s.Dead() })},
		{family{"dpl_service_ready", gauge,
			"1 if the service is ready: it is up and says so, or has completed."},
			flag(func(s service) bool { return s.Group.Ready(s.ID, s.Group.Seen) })},
		{family{"dpl_service_in_trouble", gauge,
			"1 if the service should run and does not, is blocked, or cannot be checked."},
			flag(service.InTrouble)},
		{family{"dpl_service_state", gauge, "1 for the state of the service, 0 for the others."},
			states(func(s service) group.ServiceState { return s.State }, serviceStates()...)},
		{family{"dpl_service_restart_attempts", gauge,
			"Restarts that count against --max-attempts: since it was last healthy for long enough."},
			value(func(s service) float64 { return float64(s.RestartAttempts) })},
		{family{"dpl_service_start_time_seconds", gauge,
			"When a pass started the process; changes tell how often."},
			known(func(s service) (float64, bool) { return timeOf(s.StartedAt) })},
		{family{"dpl_service_heartbeat_age_seconds", gauge,
			"Since the last heartbeat of the service, if it should be up."},
			known(func(s service) (float64, bool) {
				return seconds(s.Age), s.State == group.StateRunning && !s.LastHeartbeat.IsZero()
			})},
		{family{"dpl_service_maintenance_seconds", gauge,
			"For how long the service has been in a maintenance; absent if it is not."},
			known(func(s service) (float64, bool) {
				if s.Maintenance == nil {
					return 0, false
				}
				return onFor(s, &s.Maintenance.Span)
			})},
		{family{"dpl_service_silenced_seconds", gauge,
			"For how long the service has been silenced; absent if it is not."},
			known(func(s service) (float64, bool) { return onFor(s, s.Silence) })},
		{family{"dpl_service_spent_total", counter, "What the service has spent, over all starts."},
			func(s service) (all []sample) {
				for _, a := range s.SpentTotal {
					all = append(all, one(float64(a.N), "amount", a.Name))
				}
				return all
			}},
	}
}

// onFor returns for how long o, a span of s, has been on, and whether it is.
func onFor(s model.Service, o *group.Span) (float64, bool) {
	now := s.Group.Seen.Now
	if !o.On(now) {
		return 0, false
	}
	return seconds(now.Sub(o.At)), true
}

// serviceBefore has how the process before ended, as far as that is known.
func serviceBefore() []metric[model.Service] {
	exit := func(of func(e *policy.Exit) (float64, bool)) func(model.Service) []sample {
		return known(func(s model.Service) (float64, bool) {
			if s.LastExit == nil || s.StillRuns(s.Group.Seen) {
				return 0, false
			}
			return of(s.LastExit)
		})
	}

	const kibibyte = 1024
	return []metric[model.Service]{
		{family{"dpl_service_last_exit_timestamp_seconds", gauge,
			"When the process before ended."},
			exit(func(e *policy.Exit) (float64, bool) { return timeOf(e.At) })},
		{family{"dpl_service_last_exit_status", gauge,
			"Its exit status, or 128+N if signal N killed it; absent if unknown."},
			exit(exitStatus)},
		{family{"dpl_service_last_exit_oom_killed", gauge, "1 if the kernel killed it for memory."},
			exit(func(e *policy.Exit) (float64, bool) { return bit(e.OOMKilled), e.Code != "" })},
		{family{"dpl_service_last_exit_cpu_seconds", gauge, "Processor time that it had used."},
			exit(func(e *policy.Exit) (float64, bool) { return seconds(e.CPU), e.CPU > 0 })},
		{family{"dpl_service_last_exit_max_rss_bytes", gauge,
			"The most memory that one of its processes had resident."},
			exit(func(e *policy.Exit) (float64, bool) {
				return float64(e.MaxRSS * kibibyte), e.MaxRSS > 0
			})},
	}
}

func exitStatus(e *policy.Exit) (float64, bool) {
	if e.Code == policy.CodeExited {
		return float64(e.Status), true
	}
	return float64(128 + e.Status), e.Code != ""
}
