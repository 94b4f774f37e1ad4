package group

import "time"

// failed is the rule of failed and restartScheduled.
func (p *planner) failed(j judgement, failedAt time.Time) []step {
	if s := j.Service; s.RestartCause != "" && s.Restartable && s.StartInfo != nil {
		return p.follow(j, s.StopFor)
	}
	if j.Service.StopFor != nil {
		return p.stopping(j, failedAt)
	}
	return p.retry(j, failedAt)
}

// retry lets a service wait for its backoff and starts it again, or gives it up.
func (p *planner) retry(j judgement, failedAt time.Time) []step {
	s := j.Service
	if why := s.History().GivenUp(); why != "" {
		return p.giveUp(j, why)
	}
	if s.completes() {
		return p.complete(j, nil)
	}
	if p.parked[s.ID] {
		return p.park(j)
	}
	if p.ends() {
		return p.quit(j)
	}

	if failedAt.IsZero() {
		failedAt = p.seen.Now
	}

	due := setDue{failedAt, latest(s.History().RestartAt(failedAt), p.notBefore(s))}
	waits := due.waits(p.seen.Now)
	switch {
	case (p.set.members[s.ID] || !waits) && j.Held(p.seen):
		return then(due, p.stop(j))
	case waits || p.barred(s):
		return []step{due, schedule{}}
	case !p.dependenciesReady(s):
		return []step{due, setPending{}, p.wait(s)}
	}

	return then(due, p.start(j, true, ""))
}

// waits reports whether the time to start has not come yet at now.
func (step setDue) waits(now time.Time) bool {
	return now.Before(step.at) && !now.Before(step.failedAt)
}

// giveUp gives a service up for the reason why, after stopping what a pass has started.
func (p *planner) giveUp(j judgement, why string) []step {
	if p.ours(j) && j.Held(p.seen) {
		return p.stop(j)
	}
	return []step{die{why}}
}

// complete lets a service complete, after stopping what a pass has started; or lets it run again
// with its set. f is how it has ended; nil: that is recorded.
func (p *planner) complete(j judgement, f *Failure) []step {
	var steps []step
	held := p.ours(j) && j.Held(p.seen)
	switch {
	case held && f != nil:
		steps = []step{fail{f}}
	case !held && f != nil:
		steps = []step{complete{f}}
	case !held:
		steps = []step{complete{}}
	}

	switch {
	case p.runsAgain(j.Service):
		return append(steps, p.runAgain(j)...)
	case held:
		return append(steps, p.stop(j)...)
	}
	return steps
}

// ours reports whether a pass has started the process of j, so that passes also have to stop it.
func (p *planner) ours(j judgement) bool { return !j.Service.StartedAt.IsZero() }
