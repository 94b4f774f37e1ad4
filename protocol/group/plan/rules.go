package plan

import (
	"cmp"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// blockedElsewhere is why a service is not started whose process may live on another host.
const blockedElsewhere = "process elsewhere"

// anotherLives is why a service is not started that has another start, with the process that
// follows.
const anotherLives = "another start lives: "

// parkedReason is why a service is dead because of the intensity of its group.
const parkedReason = "intensity of the group"

// rule returns the steps of a service according to its state.
func (r *rules) rule(j judgement) []step {
	switch {
	case j.Service.LeftAlone(r.seen.Now), j.Unread: // the record may say anything
		return nil
	case j.Awaited:
		return []step{await{}}
	}

	if r.ends() && !j.Service.State.Final() {
		return r.windDown(j)
	}

	switch j.Service.State {
	case group.StateRunning:
		return r.running(j)
	case group.StateRegistered, group.StateWaiting:
		return r.waiting(j, "registered")
	case group.StateFailed, group.StateScheduled:
		return r.failed(j, j.Service.FailedAt)
	case group.StateShuttingDown:
		return r.shuttingDown(j)
	case group.StateCompleted:
		if r.runsAgain(j.Service) {
			return r.runAgain(j)
		}
	}

	return nil
}

// running is the rule of running. A failure goes before a reboot: it has one only if it does not
// start again after that.
func (r *rules) running(j judgement) []step {
	switch s := j.Service; {
	case s.Starting && j.Gone: // it ended before it was the service, so nothing has failed
		return then(loseStart{}, r.waiting(j, "startLost"))
	case j.failure != nil:
		return r.fail(j, j.failure)
	case j.Evidence == observe.Rebooted:
		return then(reboot{}, r.waiting(j, string(observe.Rebooted)))
	}

	if r.set.members[j.Service.ID] {
		return r.joinSet(j)
	}

	// It goes on. What it is asked for comes before the signals, so that a program that gets one
	// finds the question.
	steps := []step{carryOn{alive: j.Alive, unbegun: j.Unbegun}}
	for _, clock := range j.asks {
		steps = append(steps, askCheckpoint{clock})
	}
	if j.Service.IsGroup() {
		return append(steps, r.showing(j)...)
	}
	steps = append(steps, j.pauseSignal()...)
	return append(steps, j.softSignal(j.asks)...)
}

// waiting is the rule of registered and waitingForDependencies. firstReason is the reason for the
// start if it is not a restart.
func (r *rules) waiting(j judgement, firstReason string) []step {
	if !r.dependenciesReady(j.Service) {
		return []step{r.wait(j.Service)}
	}

	var next []step
	switch {
	case j.Alive, j.Heard: // somebody has started it already
		next = []step{adopt{}}
	case j.Service.StartInfo != nil:
		next = r.start(j, j.Service.RestartPending, firstReason)
	default: // no pass can start it, so it has failed
		next = r.fail(j, j.FailAs(cmp.Or(j.Evidence, observe.Exited), r.seen, r.failover))
	}

	return then(unblock{}, next)
}

// otherStart returns a living process of a start of the service id that the registry does not know,
// or 0.
func (r *rules) otherStart(id string) int {
	if r.seen.Kept == nil {
		return 0
	}
	return r.seen.Kept(r.group.ID, id, r.group.Service(id).StartID)
}

// start starts a service, after stopping what is left of its last start.
func (r *rules) start(j judgement, restart bool, firstReason string) []step {
	switch {
	case j.Foreign && !r.failover:
		return []step{block{blockedElsewhere}}
	case j.Held(r.seen):
		return r.stop(j)
	case r.set.mustWait(j.Service.ID):
		return nil
	}

	if j.Service.IsGroup() {
		return r.beginGroup(j, restart, firstReason)
	}

	// After a restore from a backup, a start that the registry does not know may live.
	if pid := r.otherStart(j.Service.ID); pid != 0 {
		return []step{block{anotherLives + strconv.Itoa(pid)}}
	}
	return []step{start{restart, firstReason, 0}}
}

// fail makes a service fail as was judged, and continues with the steps that follow.
func (r *rules) fail(j judgement, f *group.Failure) []step {
	if r.parked[j.Service.ID] && f.StopFor != nil {
		f = f.Then(group.ThenPark)
	}

	j.Service = f.After
	if f.After.Completes() {
		return r.complete(j, f)
	}
	return then(fail{f}, r.failed(j, f.After.FailedAt))
}

// failed is the rule of failed and restartScheduled.
func (r *rules) failed(j judgement, failedAt time.Time) []step {
	// Its set decides when a service starts again that did not fail itself.
	if s := j.Service; s.RestartCause != "" && s.Restartable && s.StartInfo != nil {
		return r.follow(j, s.StopFor)
	}
	if j.Service.StopFor != nil {
		return r.stopping(j, failedAt)
	}
	return r.retry(j, failedAt)
}

// notBefore returns the time before which the group restarts no service whose last end was charged,
// or zero.
func (r *rules) notBefore(s *group.Service) time.Time {
	limit := r.group.Registry.Supervision.Limit
	if limit.OnIntensity != policy.Delay || !limit.Exceeded(r.charges) || s.LastExit == nil ||
		!s.LastExit.Charged() {
		return time.Time{}
	}
	return wire.Later(r.charges[0], limit.Period)
}

// retry lets a service wait for its backoff and starts it again, or gives it up.
func (r *rules) retry(j judgement, failedAt time.Time) []step {
	// Whether it is over comes first, also in a group that ends.
	s := j.Service
	if why := s.History().GivenUp(); why != "" {
		return r.giveUp(j, why)
	}
	if s.Completes() {
		return r.complete(j, nil)
	}
	if r.parked[s.ID] {
		return r.park(j)
	}
	if r.ends() {
		return r.quit(j)
	}

	if failedAt.IsZero() {
		failedAt = r.seen.Now
	}

	due := setDue{failedAt, latest(s.History().RestartAt(failedAt), r.notBefore(s))}
	waits := due.waits(r.seen.Now)
	switch {
	// Other members wait for its end. By itself, what is left of it is stopped when it starts.
	case (r.set.members[s.ID] || !waits) && j.Held(r.seen):
		return then(due, r.stop(j))
	case waits || r.set.mustWait(s.ID):
		return []step{due, schedule{}}
	case !r.dependenciesReady(s):
		return []step{due, setPending{}, r.wait(s)}
	}

	return then(due, r.start(j, true, ""))
}

// giveUp gives a service up for the reason why, after stopping what a pass has started.
func (r *rules) giveUp(j judgement, why string) []step {
	if j.startedByPass() && j.Held(r.seen) {
		return r.stop(j)
	}
	return []step{die{why}}
}

// park gives a service up because of the intensity of its group, after stopping what a pass has
// started.
func (r *rules) park(j judgement) []step {
	if j.startedByPass() && j.Held(r.seen) {
		return then(dieOnceStopped{}, r.stop(j))
	}
	return []step{die{parkedReason}}
}

// complete lets a service complete, after stopping what a pass has started; or lets it run again
// with its set. f is how it has ended; nil: that is recorded.
func (r *rules) complete(j judgement, f *group.Failure) []step {
	// While processes of it are left, it has only ended: nothing that depends on its completion may
	// start beside them.
	var steps []step
	held := j.startedByPass() && j.Held(r.seen)
	switch {
	case held && f != nil:
		steps = []step{fail{f}}
	case !held && f != nil:
		steps = []step{complete{f}}
	case !held:
		steps = []step{complete{}}
	}

	switch {
	case r.runsAgain(j.Service):
		return append(steps, r.runAgain(j)...)
	case held:
		return append(steps, r.stop(j)...)
	}
	return steps
}

// joinSet makes a service that runs wait for the set, and stops it.
func (r *rules) joinSet(j judgement) []step {
	due := latest(r.set.due, r.seen.Now)
	why := group.StopFor{Reason: policy.ReasonSibling, Detail: r.set.cause, Then: group.ThenRestart}
	if j.Service.Restart == policy.Temporary {
		why.Then = group.ThenStopped
	}
	return then(joinSet{r.set.cause, due, &why, j.Alive && !j.Unbegun}, r.follow(j, &why))
}

// runsAgain reports whether s, which has done its work, runs again with its set.
func (r *rules) runsAgain(s *group.Service) bool {
	return s.Restart == policy.Transient && r.set.members[s.ID]
}

// runAgain makes a service that has done its work wait for the set, and then run again.
func (r *rules) runAgain(j judgement) []step {
	cause := cmp.Or(r.judged[j.Service.ID].Service.RestartCause, r.set.cause)
	was := *j.Service
	was.ForgetFailure()
	j.Service = &was
	return then(joinSet{cause, latest(r.set.due, r.seen.Now), nil, false}, r.follow(j, nil))
}

// follow starts a service again that stopped because of another, once its set may start.
func (r *rules) follow(j judgement, why *group.StopFor) []step {
	switch {
	case j.Held(r.seen):
		return r.stop(j)
	case !j.Checkable && j.Heard:
		return nil // the answer to its next heartbeat ends it
	case why != nil && j.Service.TermSentAt.IsZero() && j.Evidence == observe.Exited:
		// It ended by itself before it was asked to.
		return r.fail(j, j.FailAs(j.Evidence, r.seen, r.failover))
	}

	var steps []step
	if why != nil {
		steps = []step{stoppedForSet{*why}}
	}
	switch {
	case why != nil && why.Then == group.ThenStopped:
		return append(steps, stopped{})
	case r.set.mustWait(j.Service.ID):
		since := j.Service.FailedAt
		if since.IsZero() { // it waits for the set since this pass
			since = r.seen.Now
		}
		return append(steps, setDue{since, latest(r.set.due, since)}, schedule{})
	case !r.dependenciesReady(j.Service):
		return append(steps, setPending{}, r.wait(j.Service))
	}
	return append(steps, r.start(j, true, "")...)
}

// stopping stops a service that failed for a reason of a pass. Once it is no longer held, it
// continues as its StopFor says.
func (r *rules) stopping(j judgement, failedAt time.Time) []step {
	switch next := j.Service.StopFor.Then; {
	case j.Held(r.seen):
		return r.stop(j)
	case !j.Checkable && j.Heard: // the answer to its next heartbeat ends it
		return nil
	case next == group.ThenDead:
		return []step{completeExit{}, die{string(policy.Terminal)}}
	case next == group.ThenPark:
		return []step{completeExit{}, die{parkedReason}}
	case next == group.ThenStopped:
		return []step{completeExit{}, stopped{}}
	}

	settled := *j.Service
	settled.CompleteExit(r.seen.Now)
	j.Service = &settled
	return then(completeExit{}, r.retry(j, failedAt))
}

// shuttingDown is the rule of shuttingDown: dependents stop first.
func (r *rules) shuttingDown(j judgement) []step {
	s := j.Service
	switch {
	case r.dependentShutsDown(s):
		return nil
	case j.Held(r.seen):
		return r.stop(j)
	case !j.Checkable && j.Heard: // the answer to its next heartbeat ends it
		return nil
	case s.RemoveAfterStop:
		return []step{remove{}}
	case !s.StartAgain:
		// It had done its work when somebody asked to stop it.
		if f := j.endedBeforeStop(r.seen); f != nil {
			return []step{complete{f}}
		}
		return []step{stopped{"stopped"}}
	}

	// It starts again in the same pass, judged as a service that has no process.
	released := *s
	released.Release(r.seen)
	released.ForgetLimits()
	again := judgement{Judgement: r.group.Judge(&released, group.Ending{}, r.seen)}
	return then(release{}, r.waiting(again, "registered"))
}

// windDown is the rule of every service in a group that ends: it is stopped, and not started again.
// What it has done by itself before that is recorded first.
func (r *rules) windDown(j judgement) []step {
	s := j.Service
	failed := (s.State == group.StateFailed || s.State == group.StateScheduled) && s.RestartCause == ""

	switch {
	case s.State == group.StateShuttingDown && s.StartAgain:
		stays := *s
		stays.StartAgain = false
		j.Service = &stays
		return then(stayStopped{}, r.shuttingDown(j))
	case s.State == group.StateShuttingDown:
		return r.shuttingDown(j)
	case j.failure != nil:
		return r.fail(j, j.failure)
	case failed && s.StopFor != nil:
		return r.stopping(j, s.FailedAt)
	case failed:
		return r.retry(j, s.FailedAt)
	}
	return r.quit(j)
}

// quit stops a service because its group ends.
func (r *rules) quit(j judgement) []step {
	s := *j.Service
	runs := s.State == group.StateRunning && j.failure == nil

	switch {
	case j.mustStop(r.seen):
		s.State = group.StateShuttingDown
		s.ForgetFailure()
		j.Service = &s
		return then(askToStop{r.end.Reason}, r.shuttingDown(j))
	case runs && j.Evidence == observe.Rebooted:
		return []step{stopped{string(observe.Rebooted)}}
	case runs:
		return []step{stopped{policy.ReasonStopped}}
	}
	return []step{stopped{}}
}
