package group

import "github.com/dpl-project/dpl/protocol/group/policy"

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
