package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// startedFor is the time after a start from which a process that is alive has certainly become the
// service.
const startedFor = time.Second

// manyRetries is the number of retries at which one alert tells that nothing limits them.
const manyRetries = 10

// An acting is the edit that takes the steps of a pass.
type acting struct {
	*edit
	actions  []Action
	rebooted []string // services that are started again after a reboot
}

// act takes all steps of plan. It leaves the actions to the caller, because they come after the
// commit.
func (e *edit) act(plan []course) *acting {
	a := &acting{edit: e}
	places := e.g.Registry.places()
	for _, c := range plan {
		for _, step := range c.steps {
			i := places[c.id]
			if on, is := step.(carryOn); is && !on.changes(a, &e.g.Registry.Services[i]) {
				continue
			}
			step.take(a, &e.services()[i])
		}
		if len(e.g.Registry.Services) != len(places) { // it was removed
			places = e.g.Registry.places()
		}
	}
	return a
}

// A step is a change of one service in a pass, with its event, alert and action.
type step interface{ take(a *acting, s *Service) }

type (
	carryOn struct {
		alive   bool
		unbegun bool // its command has not begun
	}
	nudge      struct{ clock string }           // it is asked for a checkpoint
	loseStart  struct{}                         // its process ended before it became the service
	reboot     struct{}                         // it has not failed, but its host was rebooted
	fail       struct{ *Failure }               // it has failed
	settle     struct{}                         // what was stopped for a reason is no longer held
	setDue     struct{ failedAt, at time.Time } // when it may be started again
	schedule   struct{}                         // that time has not come yet
	setPending struct{}                         // its next start is a restart
	wait       struct{ blockedBy string }       // it waits for its dependencies
	unblock    struct{}
	block      struct{ by string }
	adopt      struct{} // it is already running
	signal     struct{ Signal }
	start      struct {
		restart     bool
		firstReason string // if it is not a restart
		generation  int64  // of the group that it is; 0: it is none
	}
	die      struct{ reason string }
	complete struct{ failed *Failure } // it has done its work; nil: how it ended is recorded
	release  struct{}                  // it has stopped, and becomes registered again
	stopped  struct{ exit string }     // why its process ended; "": that is recorded
	remove   struct{}                  // it has stopped, and nothing asks for it any more
)

func (step carryOn) take(a *acting, s *Service) {
	now := a.seen.Now
	if step.unbegun {
		return
	}
	s.RunningSince = s.runsSince(step.alive, now)
	if step.alive && s.Starting && !s.StartedAt.IsZero() && now.Sub(s.StartedAt) >= startedFor {
		s.Starting = false
	}

	s.recover(s.RunningSince, now)
}

// changes reports whether the step changes s, which most passes do not.
func (step carryOn) changes(a *acting, s *Service) bool {
	after := *s
	step.take(a, &after)
	return after.ServiceStatus != s.ServiceStatus || after.ServiceRecovery != s.ServiceRecovery
}

func (step nudge) take(a *acting, s *Service) {
	s.Asked = s.Asked.with(step.clock, a.seen)
	a.raise(AlertNudged, s.ID, "%s", step.clock)
}

func (loseStart) take(a *acting, s *Service) {
	a.setState(s, StateRegistered, "startLost")
	s.Starting, s.StopFor = false, nil
}

func (reboot) take(a *acting, s *Service) {
	s.recoverAtDeath(a.seen.Now)
	s.exited(a.seen.Now, string(observe.Rebooted), "")
	a.setState(s, StateRegistered, string(observe.Rebooted))
	s.RunningSince = time.Time{}
	a.rebooted = append(a.rebooted, s.ID)
}

func (step fail) take(a *acting, s *Service) { a.fail(s, step.Failure) }

func (settle) take(a *acting, s *Service) { s.settle(a.seen.Now) }

func (step setDue) take(_ *acting, s *Service) {
	s.FailedAt, s.NextAttemptAt = step.failedAt, step.at
}

func (schedule) take(a *acting, s *Service) { a.setState(s, StateScheduled, "") }

func (setPending) take(_ *acting, s *Service) { s.RestartPending = true }

func (step wait) take(a *acting, s *Service) {
	a.setState(s, StateWaiting, "")
	block{step.blockedBy}.take(a, s)
}

func (unblock) take(_ *acting, s *Service) { s.BlockedBy = "" }

func (step block) take(a *acting, s *Service) {
	s.BlockedBy = step.by
	if step.by != "" && step.by != a.before.Service(s.ID).BlockedBy && !s.waitsForMaintenance() {
		a.raise(AlertBlocked, s.ID, "%s", step.by)
	}
}

func (adopt) take(a *acting, s *Service) {
	a.setState(s, StateRunning, "")
	s.RestartPending, s.RestartCause, s.TermSentAt = false, "", time.Time{}
	s.Maintenance = s.Maintenance.with(false)
	if s.RunningSince.IsZero() {
		s.RunningSince = a.seen.Now
	}
	if s.LastHeartbeat.IsZero() { // otherwise it would never go stale
		s.Refresh(a.seen)
	}
}

func (step signal) take(a *acting, s *Service) {
	if (step.Name == Term || step.Name == Kill) && s.TermSentAt.IsZero() {
		s.TermSentAt, s.TermSentBeat = a.seen.Now, a.seen.Beat()
	}
	a.actions = append(a.actions, step.Signal)
}

func (step start) take(a *acting, s *Service) {
	reason := step.firstReason
	if step.restart && s.RestartCause != "" {
		reason = policy.ReasonSibling
	} else if step.restart {
		reason = a.countAttempt(s)
	} else if e := s.LastExit; reason == "registered" && e != nil &&
		e.Reason == string(observe.Rebooted) {
		reason = string(observe.Rebooted) // it has waited since the reboot
	}

	a.setState(s, StateRunning, reason)
	s.setProcess(0, observe.Process{})
	s.forgetFailure()
	s.StopRequestedAt = time.Time{}
	s.Maintenance = s.Maintenance.with(false)

	s.Notice.Readiness = s.StartInfo.Readiness
	s.Refresh(a.seen)
	s.StartedAt, s.Attempt, s.Starting = a.seen.Now, s.RestartAttempts, true
	if s.StartInfo.hasClock() {
		s.StartedBeat = a.seen.Beat()
	}
	if s.hasCheck() {
		s.Health = &Health{}
	}
	if s.isGroup() {
		s.Notice.Readiness, s.Starting = observe.ReadinessStarting, false
		s.Generation = step.generation
		a.actions = append(a.actions, Begin{s.StartInfo.Group, a.g.parentOf(s)})
		return
	}
	a.actions = append(a.actions, Start{s.ID, s.Attempt, reason, s.LastExit})
}

// countAttempt counts a restart of s, and returns the reason for it.
func (a *acting) countAttempt(s *Service) string {
	last := policy.Exit{Reason: string(observe.Exited)}
	if s.LastExit != nil && s.LastExit.Reason != "" {
		last = *s.LastExit
	}

	s.LastRestartAttempt = a.seen.Now
	if last.Charged() {
		s.RestartAttempts++
		a.raise(AlertRestarted, s.ID, "attempt %d: %s", s.RestartAttempts, last)
		return last.Reason
	}

	s.Retries++
	if !last.Short() { // nothing has ended
		a.raise(AlertRestarted, s.ID, "retry %d: %s", s.Retries, last)
	}
	if s.Retries == manyRetries {
		a.raise(AlertRetrying, s.ID, "%d retries: %s", s.Retries, last)
	}

	return last.Reason
}

func (step complete) take(a *acting, s *Service) {
	if step.failed != nil {
		s.fail(step.failed, a.seen.Now)
	}
	a.setState(s, StateCompleted, s.LastExit.String())
	s.forgetFailure()
	s.TermSentAt, s.StopRequestedAt, s.StoppedBy = time.Time{}, time.Time{}, ""
	a.raise(AlertCompleted, s.ID, "%s", s.LastExit)
}

func (step die) take(a *acting, s *Service) {
	a.setState(s, StateDead, step.reason)
	s.NextAttemptAt, s.RestartPending, s.BlockedBy, s.TermSentAt = time.Time{}, false, "", time.Time{}
	s.RestartCause = ""

	message := step.reason
	if why := s.whyDead(); why != "" {
		message += ": " + why
	}
	a.raise(AlertDead, s.ID, "%s", message)
}

// whyDead returns why s, which is given up, has ended, or "" if that is unknown.
func (s *Service) whyDead() string {
	e := s.LastExit
	switch {
	case e == nil:
		return ""
	case e.Reason != string(observe.Exited) || e.Code != "" || s.StartedAt.IsZero():
		return e.String()
	case s.Keeper != observe.Process{}:
		return e.String() + ": its keeper was killed before it could say how"
	}
	return e.String() + ": nobody saw how: keep it in the foreground, or run it under dpl-run --group"
}

func (release) take(a *acting, s *Service) {
	a.released(s, StateRegistered, "restart", "stopped")
	s.StoppedBy = ""
	s.Maintenance = s.Maintenance.with(s.Maintenance.On(a.seen.Now)) // it was asked to start again
	s.forgetLimits()
}

func (step stopped) take(a *acting, s *Service) {
	a.released(s, StateStopped, "stopped", step.exit)
}

func (remove) take(a *acting, s *Service) { a.remove(s) }
