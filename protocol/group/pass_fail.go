package group

import "time"

// fail sets the members of s, which fails at now because of step, except its state. If the time of
// its death is known, or it is stopped now, and it was healthy then, its attempts are forgotten
// first, although no pass may have seen it healthy (spec §11.2).
func (s *Service) fail(step fail, now time.Time) {
	if died, known := s.diedAt(now); known {
		s.recover(s.ranSince(), died)
	} else if step.stopFor != nil {
		s.recover(s.RunningSince, now)
	}

	s.exited(now, step.reason, step.detail)
	if step.left && s.LastExit.Error == "" {
		s.LastExit.Error = "processes of it are left"
	}

	s.FailedAt, s.StopFor = s.LastExit.At, step.stopFor
	s.RunningSince, s.Starting, s.NextAttemptAt, s.BlockedBy = time.Time{}, false, time.Time{}, ""
}

// recover forgets the attempts of s if it was healthy at t: if it had then run since a time more
// than its ResetAfter before. Zero: it is not known to have run.
func (s *Service) recover(since, t time.Time) {
	if !since.IsZero() && t.Sub(since) > s.policy().ResetAfter {
		s.RestartAttempts = 0
	}
}

// ranSince returns since when the process of s, which has ended, is known to have run, or zero. What
// has an exit status or was killed was not only started, but ran.
func (s *Service) ranSince() time.Time {
	if s.RunningSince.IsZero() && s.Ended != nil && s.Ended.Code != "" {
		return s.StartedAt
	}
	return s.RunningSince
}
