package group

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// failed is the rule of failed and restartScheduled.
func (p *planner) failed(j judgement, failedAt time.Time) []step {
	if j.was.StopFor != nil {
		return p.stopping(j, failedAt)
	}
	return p.retry(j, failedAt)
}

// retry lets a service wait for its backoff and starts it again, or gives it up.
func (p *planner) retry(j judgement, failedAt time.Time) []step {
	s, policy := j.was, j.was.policy()
	switch {
	case !s.Restartable || s.StartInfo == nil:
		return p.giveUp(j, "not restartable")
	case s.RestartAttempts >= policy.MaxAttempts:
		return p.giveUp(j, fmt.Sprintf("%d attempts", s.RestartAttempts))
	}

	if failedAt.IsZero() {
		failedAt = p.seen.Now
	}

	backoff := policy.Backoff[min(s.RestartAttempts, len(policy.Backoff)-1)]
	due := setDue{failedAt, wire.Later(failedAt, backoff)}

	switch {
	case p.seen.Now.Before(due.at) && !p.seen.Now.Before(failedAt):
		return []step{due, schedule{}}
	case j.held(p.seen):
		return then(due, p.stop(j))
	case !p.dependenciesReady(s):
		return []step{due, setPending{}, p.wait(s)}
	}

	return then(due, p.start(j, true, ""))
}

// giveUp gives a service up. It first stops what a pass has started.
func (p *planner) giveUp(j judgement, reason string) []step {
	if !j.was.StartedAt.IsZero() && j.held(p.seen) {
		return p.stop(j)
	}
	return []step{die{reason}}
}
