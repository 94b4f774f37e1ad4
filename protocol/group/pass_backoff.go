package group

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// failed is the rule of failed and restartScheduled.
func (p *planner) failed(j judgement, failedAt time.Time) []step {
	if s := j.was; s.RestartCause != "" && s.Restartable && s.StartInfo != nil {
		return p.follow(j, s.StopFor)
	}
	if j.was.StopFor != nil {
		return p.stopping(j, failedAt)
	}
	return p.retry(j, failedAt)
}

// retry lets a service wait for its backoff and starts it again, or gives it up.
func (p *planner) retry(j judgement, failedAt time.Time) []step {
	s := j.was
	if why := s.givenUp(); why != "" {
		return p.giveUp(j, die{why})
	}
	if s.completes() {
		return p.giveUp(j, complete{})
	}

	if failedAt.IsZero() {
		failedAt = p.seen.Now
	}

	due := setDue{failedAt, wire.Later(failedAt, s.backoff())}

	waits := due.waits(p.seen.Now)
	switch {
	case (p.set.members[s.ID] || !waits) && j.held(p.seen):
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

// givenUp returns why s, which has failed, is not restarted, or "".
func (s *Service) givenUp() string {
	class, most := Class(""), s.policy().MaxAttempts
	if s.LastExit != nil {
		class = s.LastExit.Class
	}

	switch {
	case s.completes():
		return ""
	case !s.Restartable || s.StartInfo == nil:
		return "not restartable"
	case s.Restart == Temporary:
		return string(Temporary)
	case class == Terminal:
		return string(Terminal)
	case class == Persistent && s.PersistentRow > 1:
		return fmt.Sprintf("%s, %d in a row", Persistent, s.PersistentRow)
	case class.charged() && most != Unlimited && s.RestartAttempts >= most:
		return fmt.Sprintf("%d attempts", s.RestartAttempts)
	}

	return ""
}

// backoff returns the time from the failure of s to its restart. A restart that is not charged is
// never made at once after a tempfail, because nothing else limits it.
func (s *Service) backoff() time.Duration {
	delays, n := s.policy().Backoff, s.RestartAttempts+s.Retries
	if s.LastExit == nil || s.LastExit.Class != Tempfail {
		return delays[min(n, len(delays)-1)]
	}
	return max(delays[min(max(n, 1), len(delays)-1)], leastRetry)
}

// leastRetry is the least time from a tempfail to the retry.
const leastRetry = time.Second

// giveUp takes last, the last step of a service, after stopping what a pass has started.
func (p *planner) giveUp(j judgement, last step) []step {
	if p.ours(j) && j.held(p.seen) {
		return p.stop(j)
	}
	return []step{last}
}

// ours reports whether a pass has started the process of j, so that passes also have to stop it.
func (p *planner) ours(j judgement) bool { return !j.was.StartedAt.IsZero() }
