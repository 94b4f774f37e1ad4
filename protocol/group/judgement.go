package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Judgement is what is known of a service and its process before anything is decided: from the
// files, from its exit record, and from an observation (groups.md §11.2).
type Judgement struct {
	Service   *Service         // it must not be changed
	Evidence  observe.Evidence // that it is dead, or "" if there is none
	Gone      bool             // its process has certainly ended
	Alive     bool             // its process is known to be alive
	Heard     bool             // it has sent a heartbeat recently
	Checkable bool             // the observer can check its process
	Foreign   bool             // its process may be alive where the observer cannot look
	Ready     bool             // services that depend on it may run
	Awaited   bool             // it is gone, and its keeper has yet to say how it ended
	Unread    bool             // its exit record could not be read
	Unbegun   bool             // it is alive, but its command has not begun
}

// Judge judges s, which must not be changed as long as the judgement is used. end is what its exit
// record says. A group, of which no process is known, is alive from its beginning until its files
// say that it has ended.
func (g Group) Judge(s *Service, end Ending, seen observe.Observation) Judgement {
	j := g.judge(s, seen)
	j.Awaited, j.Unread, j.Unbegun = end.awaited, end.unread, end.unbegun
	if end.Settled != "" {
		j.Evidence, j.Gone, j.Alive, j.Heard = end.Settled, true, false, false
	}
	j.Ready = j.Ready && !end.unbegun && end.Settled == ""
	return j
}

// judge judges s without its exit record.
func (g Group) judge(s *Service, seen observe.Observation) Judgement {
	j := Judgement{Service: s}
	if s.State.Final() {
		j.Ready = s.State == StateCompleted
		return j // a pass does nothing about it
	}

	j.Evidence = g.EvidenceOf(s, seen)
	j.Gone = j.Evidence == observe.Exited || j.Evidence == observe.Rebooted
	j.Ready = s.State == StateRunning && s.Notice.Readiness.Ready() && !s.Unproven() &&
		j.Evidence == ""
	if s.IsGroup() {
		j.Alive, j.Checkable = s.Begun(), true
		j.Heard = j.Alive
		return j
	}

	j.Checkable, j.Foreign = seen.CanCheck(s.Identity()), s.Foreign(seen)
	j.Alive = j.Checkable && !j.Gone
	j.Heard = !s.LastHeartbeat.IsZero() && j.Evidence == "" && !g.pausedLong(s, seen)
	return j
}

// Survived reports whether processes of the service's start are left. Call it only if the answer
// matters, because an observer may have to search for a second.
func (j Judgement) Survived(seen observe.Observation) bool { return j.Service.survived(seen) }

// Held reports whether anything must still be stopped before the service can be started again.
func (j Judgement) Held(seen observe.Observation) bool { return j.Alive || j.Survived(seen) }

// Failed reports whether the service of j has failed: it should run, and has ended otherwise than
// by a lost start or by a reboot after which it is started again.
func (j Judgement) Failed() bool {
	s := j.Service
	startsAgain := s.Starting && j.Gone || j.Evidence == observe.Rebooted && s.Restartable &&
		s.StartInfo != nil && s.Restart != policy.Temporary
	return s.State == StateRunning && j.Evidence != "" && !startsAgain
}

// Failure returns why the running service of j fails, or nil: because of its end, or of what it has
// violated or spent. That counts although it has ended since, unless it has completed: a second
// start would do it again (supervision.md §27.2, §27.4).
func (j Judgement) Failure(seen observe.Observation, failover bool) *Failure {
	var ended *Failure
	if j.Failed() {
		ended = j.FailEnded(seen, failover)
	}

	why := j.Service.StopFor // somebody has reported a violation
	if why == nil {
		why = j.Service.overspent()
	}
	startLost := j.Service.Starting && j.Gone
	if why != nil && !startLost && !(ended != nil && ended.After.Completes()) {
		return j.FailStopped(*why, seen)
	}
	return ended
}

// FailEnded returns what it means that the running service of j has ended. A program that does not
// know its soft signal dies by it, which is no success: its time was over (§26.4).
func (j Judgement) FailEnded(seen observe.Observation, failover bool) *Failure {
	clock := j.Service.softKilled()
	if clock == "" || j.Evidence != observe.Exited {
		return j.FailAs(j.Evidence, seen, failover)
	}
	return j.fails(Failure{
		Reason: policy.ReasonTimeout, Detail: clock, Left: !j.Alive && j.Survived(seen),
	}, seen.Now)
}

// FailAs returns what it means that the service of j has ended for reason.
func (j Judgement) FailAs(reason observe.Evidence, seen observe.Observation,
	failover bool) *Failure {
	return j.fails(Failure{
		Reason: string(reason), Left: !j.Alive && j.Survived(seen),
		HostLost: reason == observe.Stale && failover && j.Foreign,
	}, seen.Now)
}

// FailStopped returns what it means that passes stop the running service of j for why (§26.1).
func (j Judgement) FailStopped(why StopFor, seen observe.Observation) *Failure {
	return j.fails(Failure{
		Reason: why.Reason, Detail: why.Detail, Left: !j.Alive && j.Survived(seen), StopFor: &why,
		Runs: j.Alive && !j.Unbegun,
	}, seen.Now)
}

// fails returns f with the service of j as it fails by it.
func (j Judgement) fails(f Failure, now time.Time) *Failure {
	after := *j.Service
	after.Fail(&f, now)
	f.After = &after
	return &f
}
