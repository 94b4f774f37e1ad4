package group

import (
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Over reports whether no pass starts s again: only a request brings it back.
func (s *Service) Over() bool { return s.State.Final() }

// Outdated reports whether the process of s was started with old settings. A restart applies the
// new ones.
func (s *Service) Outdated() bool { return s.State == StateRunning && s.StartedWith != nil }

// IsGroup reports whether s is another group, and no process.
func (s *Service) IsGroup() bool { return s.StartInfo != nil && s.StartInfo.Group != "" }

// Begun reports whether a pass has begun the group that s is, and none has seen it ended since.
func (s *Service) Begun() bool { return s.IsGroup() && !s.StartedAt.IsZero() }

// HasProcess reports whether s is in a state with a process.
func (s *Service) HasProcess() bool {
	return s.State == StateRunning || s.State == StateShuttingDown
}

// IsPaused reports whether s runs, but passes have paused it or will.
func (s *Service) IsPaused() bool { return s.State == StateRunning && s.Paused != nil }

// PausedBy returns the violation because of which s was paused last, or nil if it is not known.
func (s *Service) PausedBy() *Violation {
	all := s.Violations.All()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Action == policy.RulePause {
			return &all[i]
		}
	}
	return nil
}

// RestartPolicy returns the restart policy of s. A service without a command has the default one.
func (s *Service) RestartPolicy() policy.RestartPolicy {
	if s.StartInfo == nil {
		return policy.DefaultPolicy()
	}
	return s.StartInfo.Policy
}

// History returns what counts for the restarts of s.
func (s *Service) History() *policy.History {
	return &policy.History{
		Service: s.ID, StartID: s.StartID, Policy: s.RestartPolicy(), Type: s.Restart,
		Restartable: s.Restartable && s.StartInfo != nil,
		Attempts:    s.RestartAttempts, Retries: s.Retries, PersistentRow: s.PersistentRow,
		Ends: s.Restarts, FirstFailedAt: s.FirstFailedAt, FailedAt: s.FailedAt, Last: s.LastExit,
	}
}

// class returns the class of e, how s has ended.
func (s *Service) class(e *policy.Exit) policy.Class {
	if s.StartInfo == nil {
		return e.Classify(policy.ExitStatus{}, "")
	}
	return e.Classify(s.StartInfo.ExitStatus, s.StartInfo.Budget.Action)
}

// Completes reports whether the last end of s is one that it may have, so that it is not started
// again.
func (s *Service) Completes() bool {
	return s.Restart.Completes(s.LastExit)
}

// DidItsWork reports whether s has ended as it may, and is not completed yet: what it has left
// behind is stopped first, or no pass has looked since (supervision.md §20.3).
func (s *Service) DidItsWork() bool {
	return s.State == StateFailed && s.Completes() && s.StopFor == nil
}

// exitRecorded reports whether LastExit says how the present process of s has ended.
func (s *Service) exitRecorded() bool {
	return (s.State == StateFailed || s.State == StateScheduled) && s.StopFor == nil
}

// checkpoint returns the last note that the process of s gave, or the processes before it. A
// process that ends before it gives one takes nothing away (§29.1).
func (s *Service) checkpoint() string {
	if s.Notice.Note == "" && s.LastExit != nil {
		return s.LastExit.Note
	}
	return s.Notice.Note
}

// DiedAt returns when the process of s, which has ended, died: as was reported, if that lies
// between its start and now. Otherwise it returns now, and that the time is not known (groups.md
// §11.2).
func (s *Service) DiedAt(now time.Time) (at time.Time, known bool) {
	if s.Ended == nil || s.Ended.At.Before(s.StartedAt) || s.Ended.At.After(now) {
		return now, false
	}
	return s.Ended.At, true
}

// WhyEnds returns why the process of s ends, if it ends now, as its finish command gets it
// (§25.2): for what passes stop it, with a detail; because somebody has asked for it; or by itself.
func (s *Service) WhyEnds() (reason, detail string) {
	switch {
	case s.StopFor != nil:
		return s.StopFor.Reason, s.StopFor.Detail
	case s.State == StateShuttingDown:
		return policy.ReasonStopped, ""
	}
	return policy.Exited, ""
}

// HasCheck reports whether passes check the health of s.
func (s *Service) HasCheck() bool { return s.StartInfo != nil && s.StartInfo.Health.Command != nil }

// Unproven reports whether s is not ready, because its health check has yet to succeed.
func (s *Service) Unproven() bool { return s.HasCheck() && s.Health != nil && !s.Health.Passed }

// CannotCheck returns why the health check of s, which is running, cannot be run; nil: it can.
func (s *Service) CannotCheck() *CannotRun {
	if s.State != StateRunning || !s.HasCheck() || s.Health == nil {
		return nil
	}
	return s.Health.CannotRun
}

// unchecked reports whether s is in trouble because its health check cannot be run.
func (s *Service) unchecked() bool {
	c := s.CannotCheck()
	return c != nil && c.Trouble
}

// Unhealthy returns why s is stopped, because its check has failed too often, or nil.
func (s *Service) Unhealthy() *StopFor {
	if !s.HasCheck() || s.Health == nil || s.Health.Failures < s.StartInfo.Health.Usual().Failures {
		return nil
	}
	return &StopFor{Reason: policy.ReasonUnhealthy, Detail: s.Health.Output, Then: ThenRestart}
}

// startsUp reports whether s is in the time after its start in which no failure of its health check
// counts.
func (s *Service) startsUp(seen observe.Observation) bool {
	return s.Health != nil && !s.Health.Passed && !s.StartedAt.IsZero() &&
		seen.Age(s.StartedAt, s.StartedBeat) <= s.StartInfo.Health.Usual().Start
}

// AllDependencies returns all services that must be ready, or have completed, before s is started.
func (s *Service) AllDependencies() []string {
	return slices.Concat(s.Dependencies, s.DependenciesCompleted)
}

// NeverReady reports whether no pass makes a service in state s ready.
func NeverReady(s ServiceState) bool { return s == StateDead || s == StateStopped }

// LeftAlone reports whether passes leave s alone, as it is: in a maintenance, except for a stop or
// a restart that somebody has asked for.
func (s *Service) LeftAlone(now time.Time) bool {
	if !s.Maintenance.On(now) {
		return false
	}
	switch s.State {
	case StateShuttingDown:
		return false
	case StateRegistered, StateWaiting:
		return !s.Maintenance.Start
	}
	return true
}

// WaitsForMaintenance reports whether s is blocked only until the maintenance of another service
// ends.
func (s *Service) WaitsForMaintenance() bool { return s.AwaitedMaintenance() != "" }

// AwaitedMaintenance returns the id of the service whose maintenance must end before s is started,
// or "".
func (s *Service) AwaitedMaintenance() string {
	if id, waits := strings.CutSuffix(s.BlockedBy, MaintenanceSuffix); waits {
		return id
	}
	return ""
}

// InTrouble reports whether s should run and does not, is blocked from starting, or has a health
// check that cannot be run, given whether its process runs (§30.3). A service in a
// maintenance, or that waits for one, is not. Nor is one that has done its work.
func (s *Service) InTrouble(runs bool, now time.Time) bool {
	if s.Maintenance.On(now) {
		return false
	}
	switch s.State {
	case StateFailed, StateScheduled, StateDead:
		return !s.DidItsWork()
	case StateRunning:
		return !runs || s.unchecked()
	}
	return s.BlockedBy != "" && !s.WaitsForMaintenance()
}

// troubles says what s is in trouble with.
func (s *Service) troubles() string {
	switch {
	case s.BlockedBy != "":
		return string(s.State) + ": " + s.BlockedBy
	case s.unchecked():
		return string(s.State) + ": health check: " + s.Health.CannotRun.Message
	case s.LastExit != nil:
		return string(s.State) + ": " + s.LastExit.String()
	}
	return string(s.State)
}
