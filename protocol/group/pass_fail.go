package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Fail sets the members of s, which fails at now by f, except its state. If the time of
// its death is known, or it is stopped now, and it was healthy then, its attempts are forgotten
// first, although no pass may have seen it healthy (spec §11.2).
func (s *Service) Fail(f *Failure, now time.Time) {
	if !s.RecoverAtDeath(now) && f.StopFor != nil {
		s.Recover(s.RunsSince(f.Runs, now), now)
	}

	s.RecordExit(now, f.Reason, f.Detail)
	if f.Left && s.LastExit.Error == "" {
		s.LastExit.Error = "processes of it are left"
	}

	if f.HostLost {
		s.LastExit.Class = policy.HostLost
	}

	s.count(s.LastExit, now)
	s.FailedAt, s.StopFor = s.LastExit.At, f.StopFor
	s.RunningSince, s.Starting, s.NextAttemptAt, s.BlockedBy = time.Time{}, false, time.Time{}, ""
	s.RestartCause = ""
}

// count counts e, a failure of s, in what limits its restarts.
func (s *Service) count(e *policy.Exit, now time.Time) {
	h := s.History()
	h.Count(e, now)
	s.Restarts, s.FirstFailedAt, s.PersistentRow = h.Ends, h.FirstFailedAt, h.PersistentRow
}

// Recover forgets the attempts of s if it was healthy at t: if it had then run since a time more
// than its ResetAfter before. Zero: it is not known to have run.
func (s *Service) Recover(since, t time.Time) {
	if !since.IsZero() && t.Sub(since) > s.RestartPolicy().ResetAfter {
		s.forgetAttempts()
	}
}

// RecoverAtDeath forgets the attempts of s if it was healthy when it died, and reports whether it
// is known when that was.
func (s *Service) RecoverAtDeath(now time.Time) bool {
	died, known := s.DiedAt(now)
	if known {
		s.Recover(s.ranSince(), died)
	}
	return known
}

// forgetAttempts lets s begin anew.
func (s *Service) forgetAttempts() {
	s.RestartAttempts, s.Retries, s.PersistentRow, s.FirstFailedAt = 0, 0, 0, time.Time{}
}

// ForgetLimits lets s begin anew as if nothing had ever limited it.
func (s *Service) ForgetLimits() {
	s.forgetAttempts()
	s.Restarts = nil
}

// RunsSince returns since when the process of s is known to run, given whether it does now, or
// zero.
func (s *Service) RunsSince(runs bool, now time.Time) time.Time {
	if s.RunningSince.IsZero() && runs || s.RunningSince.After(now) {
		return s.begunAt(now)
	}
	return s.RunningSince
}

// begunAt returns since when the process of s, which is alive at now, has run: since a pass started
// it, so that it does not matter when somebody first sees it. With a preflight, it is now, because
// nobody knows when that had ended.
func (s *Service) begunAt(now time.Time) time.Time {
	checked := s.StartInfo != nil && s.StartInfo.Preflight != nil
	if s.StartedAt.IsZero() || s.StartedAt.After(now) || checked {
		return now
	}
	return s.StartedAt
}

// ranSince returns since when the process of s, which has ended, is known to have run, or zero.
// What has an exit status or was killed was not only started, but ran.
func (s *Service) ranSince() time.Time {
	if s.RunningSince.IsZero() && s.Ended != nil && s.Ended.Code != "" &&
		s.Ended.Reason != policy.ReasonPreflight {
		return s.StartedAt
	}
	return s.RunningSince
}

// Completes reports whether the last end of s is one that it may have, so that it is not started
// again.
func (s *Service) Completes() bool {
	return s.Restart.Completes(s.LastExit)
}

// DidItsWork reports whether s has ended as it may, and is not completed yet: what it has left
// behind is stopped first, or no pass has looked since (spec §20.3).
func (s *Service) DidItsWork() bool {
	return s.State == StateFailed && s.Completes() && s.StopFor == nil
}

// StillRuns reports whether LastExit is about a process of s that has failed, and is alive: it is
// being stopped.
func (s *Service) StillRuns(seen observe.Observation) bool {
	return (s.State == StateFailed || s.State == StateScheduled) && s.RestartCause == "" &&
		!s.IsGroup() && s.Alive(seen)
}

// told reports whether LastExit says how the present process of s has ended.
func (s *Service) told() bool {
	return (s.State == StateFailed || s.State == StateScheduled) && s.StopFor == nil
}
