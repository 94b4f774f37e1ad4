package plan

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// startedFor is the time after a start from which a process that is alive has certainly become the
// service.
const startedFor = time.Second

// manyRetries is the number of retries at which one alert reports that nothing limits them.
const manyRetries = 10

// A course is what a pass does about one service: steps in order.
type course struct {
	id    string
	steps []step
}

// An acting takes the steps of a pass in a draft.
type acting struct {
	*group.Draft
	actions  []Action
	rebooted []string // services that are started again after a reboot
}

// act takes all steps of plan. It leaves the actions to the caller, because they come after the
// commit.
func act(d *group.Draft, plan []course) *acting {
	a := &acting{Draft: d}
	places := d.Group.Registry.Places()
	for _, c := range plan {
		for _, step := range c.steps {
			i := places[c.id]

			// Most services go on unchanged. The services are copied only for one that changes.
			if on, is := step.(carryOn); is && !on.changes(a, &d.Group.Registry.Services[i]) {
				continue
			}
			step.take(a, &d.Services()[i])
		}
		if len(d.Group.Registry.Services) != len(places) { // it was removed
			places = d.Group.Registry.Places()
		}
	}
	return a
}

// A step is a change of one service in a pass, with its event, alert and action.
type step interface {
	take(a *acting, s *group.Service)
}

// countAttempt counts a restart of s, and returns the reason for it.
func (a *acting) countAttempt(s *group.Service) string {
	last := policy.Exit{Reason: string(observe.Exited)}
	if s.LastExit != nil && s.LastExit.Reason != "" {
		last = *s.LastExit
	}

	s.LastRestartAttempt = a.Seen.Now
	if last.Charged() {
		s.RestartAttempts++
		a.Raise(group.AlertRestarted, s.ID, "attempt %d: %s", s.RestartAttempts, last)
		return last.Reason
	}

	s.Retries++
	if !last.Short() { // nothing has ended
		a.Raise(group.AlertRestarted, s.ID, "retry %d: %s", s.Retries, last)
	}
	if s.Retries == manyRetries {
		a.Raise(group.AlertRetrying, s.ID, "%d retries: %s", s.Retries, last)
	}

	return last.Reason
}

type (
	carryOn struct {
		alive   bool
		unbegun bool // its command has not begun
	}
	askCheckpoint struct{ clock string }           // it is asked for a checkpoint
	loseStart     struct{}                         // its process ended before it became the service
	reboot        struct{}                         // it has not failed, but its host was rebooted
	fail          struct{ *group.Failure }         // it has failed
	completeExit  struct{}                         // what was stopped for a reason is no longer held
	setDue        struct{ failedAt, at time.Time } // when it may be started again
	schedule      struct{}                         // that time has not come yet
	setPending    struct{}                         // its next start is a restart
	wait          struct{ blockedBy string }       // it waits for its dependencies
	unblock       struct{}
	block         struct{ by string }
	adopt         struct{} // it is already running
	signal        struct{ Signal }
	start         struct {
		restart     bool
		firstReason string // if it is not a restart
		generation  int64  // of the group that it is; 0: it is none
	}
	die      struct{ reason string }
	complete struct{ failed *group.Failure } // it has done its work; nil: how it ended is recorded
	release  struct{}                        // it has stopped, and becomes registered again
	stopped  struct{ exit string }           // why its process ended; "": that is recorded
	remove   struct{}                        // it has stopped, and nothing asks for it any more
)

func (step carryOn) take(a *acting, s *group.Service) {
	now := a.Seen.Now
	if step.unbegun {
		return
	}
	s.RunningSince = s.RunsSince(step.alive, now)
	if step.alive && s.Starting && !s.StartedAt.IsZero() && now.Sub(s.StartedAt) >= startedFor {
		s.Starting = false
	}

	s.Recover(s.RunningSince, now)
}

// changes reports whether the step changes s, which most passes do not.
func (step carryOn) changes(a *acting, s *group.Service) bool {
	after := *s
	step.take(a, &after)
	return after.ServiceStatus != s.ServiceStatus || after.ServiceRecovery != s.ServiceRecovery
}

func (step askCheckpoint) take(a *acting, s *group.Service) {
	s.Asked = s.Asked.With(step.clock, a.Seen)
	a.Raise(group.AlertNudged, s.ID, "%s", step.clock)
}

func (loseStart) take(a *acting, s *group.Service) {
	a.SetState(s, group.StateRegistered, "startLost")
	s.Starting, s.StopFor = false, nil
}

func (reboot) take(a *acting, s *group.Service) {
	s.RecoverAtDeath(a.Seen.Now)
	s.RecordExit(a.Seen.Now, string(observe.Rebooted), "")
	a.SetState(s, group.StateRegistered, string(observe.Rebooted))
	s.RunningSince = time.Time{}
	a.rebooted = append(a.rebooted, s.ID)
}

func (step fail) take(a *acting, s *group.Service) { a.Fail(s, step.Failure) }

func (completeExit) take(a *acting, s *group.Service) { s.CompleteExit(a.Seen.Now) }

func (step setDue) take(_ *acting, s *group.Service) {
	s.FailedAt, s.NextAttemptAt = step.failedAt, step.at
}

// waits reports whether the time to start has not come yet at now.
func (step setDue) waits(now time.Time) bool {
	return now.Before(step.at) && !now.Before(step.failedAt)
}

func (schedule) take(a *acting, s *group.Service) { a.SetState(s, group.StateScheduled, "") }

func (setPending) take(_ *acting, s *group.Service) { s.RestartPending = true }

func (step wait) take(a *acting, s *group.Service) {
	a.SetState(s, group.StateWaiting, "")
	block{step.blockedBy}.take(a, s)
}

func (unblock) take(_ *acting, s *group.Service) { s.BlockedBy = "" }

func (step block) take(a *acting, s *group.Service) {
	s.BlockedBy = step.by
	if step.by != "" && step.by != a.Before.Service(s.ID).BlockedBy && !s.WaitsForMaintenance() {
		a.Raise(group.AlertBlocked, s.ID, "%s", step.by)
	}
}

func (adopt) take(a *acting, s *group.Service) {
	a.SetState(s, group.StateRunning, "")
	s.RestartPending, s.RestartCause, s.TermSentAt = false, "", time.Time{}
	s.Maintenance = s.Maintenance.With(false)
	if s.RunningSince.IsZero() {
		s.RunningSince = a.Seen.Now
	}
	if s.LastHeartbeat.IsZero() { // otherwise it would never go stale
		s.Refresh(a.Seen)
	}
}

func (step signal) take(a *acting, s *group.Service) {
	if (step.Name == group.Term || step.Name == group.Kill) && s.TermSentAt.IsZero() {
		s.TermSentAt, s.TermSentBeat = a.Seen.Now, a.Seen.Beat()
	}
	a.actions = append(a.actions, step.Signal)
}

func (step start) take(a *acting, s *group.Service) {
	reason := step.firstReason
	if step.restart && s.RestartCause != "" {
		reason = policy.ReasonSibling
	} else if step.restart {
		reason = a.countAttempt(s)
	} else if e := s.LastExit; reason == "registered" && e != nil &&
		e.Reason == string(observe.Rebooted) {
		reason = string(observe.Rebooted) // it has waited since the reboot
	}

	a.SetState(s, group.StateRunning, reason)
	s.NewProcess(0, observe.Process{})
	s.ForgetFailure()
	s.StopRequestedAt = time.Time{}
	s.Maintenance = s.Maintenance.With(false)

	s.Notice.Readiness = s.StartInfo.Readiness
	s.Refresh(a.Seen)
	s.StartedAt, s.Attempt, s.Starting = a.Seen.Now, s.RestartAttempts, true
	if s.StartInfo.HasClock() {
		s.StartedBeat = a.Seen.Beat()
	}
	if s.HasCheck() {
		s.Health = &group.Health{}
	}
	if s.IsGroup() {
		s.Notice.Readiness, s.Starting = observe.ReadinessStarting, false
		s.Generation = step.generation
		a.actions = append(a.actions, Begin{s.StartInfo.Group, parentOf(a.Group, s)})
		return
	}
	a.actions = append(a.actions, Start{s.ID, s.Attempt, reason, s.LastExit})
}

func (step die) take(a *acting, s *group.Service) {
	a.SetState(s, group.StateDead, step.reason)
	s.NextAttemptAt, s.RestartPending, s.BlockedBy, s.TermSentAt = time.Time{}, false, "", time.Time{}
	s.RestartCause = ""

	message := step.reason
	if why := whyDead(s); why != "" {
		message += ": " + why
	}
	a.Raise(group.AlertDead, s.ID, "%s", message)
}

func (step complete) take(a *acting, s *group.Service) {
	if step.failed != nil {
		s.Fail(step.failed, a.Seen.Now)
	}
	a.SetState(s, group.StateCompleted, s.LastExit.String())
	s.ForgetFailure()
	s.TermSentAt, s.StopRequestedAt, s.StoppedBy = time.Time{}, time.Time{}, ""
	a.Raise(group.AlertCompleted, s.ID, "%s", s.LastExit)
}

func (release) take(a *acting, s *group.Service) {
	a.ReleaseTo(s, group.StateRegistered, "restart", "stopped")
	s.StoppedBy = ""
	s.Maintenance = s.Maintenance.With(s.Maintenance.On(a.Seen.Now)) // it was asked to start again
	s.ForgetLimits()
}

func (step stopped) take(a *acting, s *group.Service) {
	a.ReleaseTo(s, group.StateStopped, "stopped", step.exit)
}

func (remove) take(a *acting, s *group.Service) { a.Remove(s) }

type (
	becomeReady struct{ readiness observe.Readiness }
	askGroup    struct{ action Action } // of the group that the service is
	term        struct{}                // it is stopped from now on
)

func (step becomeReady) take(a *acting, s *group.Service) {
	a.Report(s, observe.Report{Readiness: step.readiness})
}

func (step askGroup) take(a *acting, _ *group.Service) { a.actions = append(a.actions, step.action) }

func (term) take(a *acting, s *group.Service) {
	s.TermSentAt, s.TermSentBeat = a.Seen.Now, a.Seen.Beat()
}

// A stoppedForSet records that a service has stopped for its set.
type stoppedForSet struct{ why group.StopFor }

func (step stoppedForSet) take(a *acting, s *group.Service) {
	s.RecordExit(a.Seen.Now, step.why.Reason, step.why.Detail)
	s.StopFor = nil
}

// A joinSet makes a service wait until its set starts again.
type joinSet struct {
	cause   string
	due     time.Time
	stopFor *group.StopFor // nil: there is nothing to stop
	runs    bool           // until now
}

func (step joinSet) take(a *acting, s *group.Service) {
	s.Recover(s.RunsSince(step.runs, a.Seen.Now), a.Seen.Now)
	a.SetStateFor(s, group.StateScheduled, policy.ReasonSibling+": "+step.cause, step.cause)
	s.RestartCause, s.StopFor = step.cause, step.stopFor
	s.FailedAt, s.NextAttemptAt = a.Seen.Now, step.due
	s.RunningSince, s.Starting = time.Time{}, false
}

type (
	askToStop   struct{ reason policy.EndReason } // its group ends
	stayStopped struct{}                          // it is not started again when it has stopped
)

func (step askToStop) take(a *acting, s *group.Service) {
	a.AskToStop(s, string(group.GroupEnding)+": "+string(step.reason), "")
}

func (stayStopped) take(_ *acting, s *group.Service) { s.StartAgain = false }

// A dieOnceStopped records that a service is dead once it is no longer held.
type dieOnceStopped struct{}

func (dieOnceStopped) take(_ *acting, s *group.Service) {
	s.StopFor = &group.StopFor{Reason: s.LastExit.Reason, Detail: s.LastExit.Detail,
		Then: group.ThenPark}
}

// await leaves a service as it is until its keeper has said how it ended.
type await struct{}

func (await) take(a *acting, s *group.Service) {
	if s.GoneSince.IsZero() {
		s.GoneSince, s.GoneBeat = a.Seen.Now, a.Seen.Beat()
	}
}

// whyDead returns why s, which is given up, has ended, or "" if that is unknown.
func whyDead(s *group.Service) string {
	e := s.LastExit
	switch {
	case e == nil:
		return ""
	case e.Reason != string(observe.Exited) || e.Code != "" || s.StartedAt.IsZero():
		return e.String()
	case s.Keeper != observe.Process{}:
		return e.String() + ": its keeper was killed before it could say how"
	}
	return e.String() + ": nobody saw how: keep it in the foreground, or run it under dpl-serve"
}
