package group

import (
	"cmp"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Failure is what it means that a running service has ended, or must be stopped, before anything
// is decided about it (groups.md §11.2, supervision.md §20, §26.1). Each death has exactly one, in
// the pass that finds it.
type Failure struct {
	Reason   string
	Detail   string
	Left     bool     // some of its processes are left
	HostLost bool     // it is its host that was lost
	StopFor  *StopFor // passes stop it for that reason; nil: they do not
	Runs     bool     // until now
	After    *Service // as it has failed, except for its state; LastExit has the class
}

// StartsAgain reports whether the service that failed is started again, now or later.
func (f *Failure) StartsAgain() bool {
	restarts := f.StopFor == nil || f.StopFor.Then == ThenRestart
	return restarts && !f.After.Completes() && f.After.History().GiveUp() == policy.NoGiveUp
}

// Then returns f with what follows the stop that it begins.
func (f *Failure) Then(next Then) *Failure {
	changed, after := *f, *f.After
	changed.StopFor = f.StopFor.with(next)
	after.StopFor, changed.After = changed.StopFor, &after
	return &changed
}

// NewProcess gives s another process, which no pass has started.
func (s *Service) NewProcess(pid int, p observe.Process) {
	s.ReplaceProcess(pid, p)
	s.StartedWith = nil
	s.StartedAt, s.Attempt, s.Starting = time.Time{}, 0, false
	s.StartID, s.Keeper, s.LogFile = "", observe.Process{}, LogFile{}
	s.RunningSince, s.TermSentAt, s.Ended = time.Time{}, time.Time{}, nil
	s.ProgressAt, s.Asked, s.GoneSince = time.Time{}, nil, time.Time{}
	s.Paused, s.PausedFor, s.Health = nil, 0, nil
	s.Notice = observe.Notice{Readiness: observe.ReadinessReady}
	s.Spent = nil
	if s.State == StateRunning { // what the other process did is not its fault
		s.StopFor = nil
	}
}

// ReplaceProcess gives s another process, and leaves what belongs to a start.
func (s *Service) ReplaceProcess(pid int, p observe.Process) {
	s.SetProcess(pid, p)
	s.nested = s.nested.Without("keeper")
}

// noProcess removes the process of s and its heartbeat.
func (s *Service) noProcess() {
	s.NewProcess(0, observe.Process{})
	s.NoHeartbeat()
}

// RecordExit records that the process of s has ended for reason, with detail unless that is "", and
// with what was reported about the end.
func (s *Service) RecordExit(now time.Time, reason, detail string) {
	exit := policy.Exit{}
	if s.Ended != nil {
		exit = *s.Ended
	}
	exit.At, _ = s.DiedAt(now)
	exit.Reason, exit.Detail = reason, cmp.Or(detail, exit.Detail)
	exit.Class = s.class(&exit)
	exit.Note = s.checkpoint()
	s.LastExit, s.Ended = &exit, nil
	s.GoneSince = time.Time{}
}

// CompleteExit completes what was recorded when s failed by how its process ended.
func (s *Service) CompleteExit(now time.Time) {
	if s.Ended != nil {
		s.RecordExit(now, s.StopFor.Reason, s.StopFor.Detail)
	} else if s.LastExit != nil {
		exit := *s.LastExit
		exit.Note = s.checkpoint()
		s.LastExit = &exit
	}
	s.StopFor = nil
}

// forgetCheckpoint forgets the note of the processes before the one that s has now.
func (s *Service) forgetCheckpoint() {
	if s.LastExit != nil && s.LastExit.Note != "" {
		exit := *s.LastExit
		exit.Note = ""
		s.LastExit = &exit
	}
}

// ForgetFailure removes the members of failed, restartScheduled and waitingForDependencies.
func (s *Service) ForgetFailure() {
	s.FailedAt, s.NextAttemptAt, s.RestartPending, s.BlockedBy = time.Time{}, time.Time{}, false, ""
	s.StopFor, s.RestartCause = nil, ""
}

// forgetEnd removes the reasons why s is not running.
func (s *Service) forgetEnd() {
	s.ForgetFailure()
	s.TermSentAt, s.StoppedBy = time.Time{}, ""
}

// Release removes the members about the process of s, its failure and its stop. A process that may
// be alive elsewhere stays on record.
func (s *Service) Release(seen observe.Observation) {
	was, foreign := s.Vitals, s.Foreign(seen)
	if s.noProcess(); foreign {
		s.Vitals = was
		s.NoHeartbeat()
	}
	s.ForgetFailure()
	s.StopRequestedAt, s.StartAgain, s.RemoveAfterStop = time.Time{}, false, false
}

// Fail sets the members of s, which fails at now by f, except its state. If the time of
// its death is known, or it is stopped now, and it was healthy then, its attempts are forgotten
// first, although no pass may have seen it healthy (§11.2).
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

// startInfoChanges sets how to start s. It keeps how a pass has started the present process as long
// as the two differ.
func (s *Service) startInfoChanges(to *StartInfo) {
	was := s.StartedWith
	if was == nil {
		was = s.StartInfo
	}
	s.StartInfo, s.StartedWith, s.Asked = to, nil, nil
	if !s.StartedAt.IsZero() && was != nil && !to.startsAs(was) {
		s.StartedWith = was
	}
}
