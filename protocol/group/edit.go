package group

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Draft is one edit of a group in progress, on a copy.
type Draft struct {
	Group  Group
	Before Group
	Seen   observe.Observation
	by     string
	copied bool // the services of g are a copy: see services
	beaten bool // a heartbeat changed, which counts as an edit even at the same time
}

// Begin returns an edit of a copy of g by verb.
func (g Group) Begin(verb, by string, seen observe.Observation) *Draft {
	seen.Now = wire.Moment(seen.Now)
	e := &Draft{Group: g, Before: g, Seen: seen, by: by}
	e.Group.effects, e.Group.ends = Effects{Verb: verb}, nil
	r := &e.Group.Registry
	r.Revision++
	r.PendingAlerts = slices.Clip(r.PendingAlerts)
	r.Events = slices.Clip(r.Events)

	return e
}

// Services returns the services of e, which may be changed. It copies them before the first change:
// a service is large, and most passes change none. What points to one before that sees no change.
func (e *Draft) Services() []Service {
	if !e.copied {
		e.Group.Registry.Services, e.copied = slices.Clone(e.Group.Registry.Services), true
	}
	return e.Group.Registry.Services
}

// end returns the group after the edit. With ErrExhausted it returns the group before it.
func (e *Draft) end() (Group, error) {
	after := e.After()
	revision := after.Registry.Revision
	if revision > wire.LastRevision && revision != e.Before.Registry.Revision {
		return e.Before, wire.ErrExhausted
	}
	return after, nil
}

// After returns the group after the edit. If the registry has not changed, its revision stays.
func (e *Draft) After() Group {
	r := &e.Group.Registry
	if !e.beaten && r.same(e.Before.Registry) {
		e.Group.Registry, e.Group.effects = e.Before.Registry, Effects{}
		return e.Group
	}

	r.Supervision.Set = r.Remaining(r.Supervision.Set)
	for i := range e.Services() {
		s := &r.Services[i]
		s.Vitals, s.TermSentBeat = s.Counting(), s.TermSentBeat.Counting(s.TermSentAt)
		s.StartedBeat = s.StartedBeat.Counting(s.StartedAt)
		s.ProgressBeat = s.ProgressBeat.Counting(s.ProgressAt)
		s.GoneBeat = s.GoneBeat.Counting(s.GoneSince)
	}

	return e.Group
}

// same reports whether r and before differ at most in their revision.
func (r Registry) same(before Registry) bool {
	return r.Owner == before.Owner && r.Supervision.same(&before.Supervision) &&
		r.AlertSeq == before.AlertSeq &&
		r.AlertsGiven == before.AlertsGiven && r.AlertTries == before.AlertTries &&
		slices.Equal(r.AlertsLost, before.AlertsLost) &&
		len(r.PendingAlerts) == len(before.PendingAlerts) &&
		wire.SameSlice(r.Events, before.Events) &&
		(wire.SameSlice(r.Services, before.Services) ||
			slices.EqualFunc(r.Services, before.Services, sameService))
}

// sameService reports whether a and b have the same text. TestSameServiceNoticesEveryField checks
// that it is complete.
func sameService(a, b Service) bool {
	return a.ID == b.ID && a.ServiceSpec.same(b.ServiceSpec) &&
		a.ServiceStatus == b.ServiceStatus &&
		a.ServiceRecovery == b.ServiceRecovery && a.ServiceReports.same(b.ServiceReports) &&
		slices.Equal(a.Unknown, b.Unknown) && slices.Equal(a.Restarts, b.Restarts) &&
		a.nested == b.nested
}

func (s ServiceSpec) same(t ServiceSpec) bool {
	return s.Order == t.Order && s.StartInfo == t.StartInfo && s.Restart == t.Restart &&
		slices.Equal(s.DependenciesCompleted, t.DependenciesCompleted) &&
		s.Restartable == t.Restartable && s.OnDead == t.OnDead &&
		s.Significant == t.Significant && s.AlertOn == t.AlertOn && s.KeepEnded == t.KeepEnded &&
		s.KillTimeout == t.KillTimeout && slices.Equal(s.Dependencies, t.Dependencies)
}

func (s ServiceReports) same(t ServiceReports) bool {
	return slices.Equal(s.Spent, t.Spent) && slices.Equal(s.SpentTotal, t.SpentTotal) &&
		s.Violations == t.Violations
}

// Service returns the entry of id, which may be changed, or nil.
func (e *Draft) Service(id string) *Service {
	if i := e.Group.Registry.index(id); i >= 0 {
		return &e.Services()[i]
	}
	return nil
}

func (e *Draft) SetState(s *Service, to ServiceState, reason string) {
	e.SetStateFor(s, to, reason, "")
}

// SetStateFor changes the state of s because of the service cause, if that is not "".
func (e *Draft) SetStateFor(s *Service, to ServiceState, reason, cause string) {
	if s.State == to {
		return
	}
	e.append(observe.Event{Type: observe.SupervisorState, SupervisorID: s.ID,
		From: string(s.State), To: string(to), Reason: reason, CauseID: cause})
	s.State = to
}

// Report records a report of s about itself.
func (e *Draft) Report(s *Service, say observe.Report) {
	before := s.Notice
	s.Notice = before.With(say)
	if say.Note != nil && *say.Note == "" {
		s.forgetCheckpoint()
	}
	if s.Notice.Readiness != before.Readiness {
		e.append(observe.Event{Type: observe.SupervisorReadiness, SupervisorID: s.ID,
			From: string(before.Readiness), To: string(s.Notice.Readiness)})
	}
}

// event records that a service was added or removed.
func (e *Draft) event(id, from, to string) {
	e.append(observe.Event{Type: observe.SupervisorState, SupervisorID: id, From: from, To: to})
}

// append appends v to the ring of events.
func (e *Draft) append(v observe.Event) {
	r := &e.Group.Registry
	r.Events = observe.Append(r.Events, v, r.Revision, e.by, e.Seen)
}

// Raise raises an alert (spec §9.4), unless the service wants only those of its end (§30.2).
func (e *Draft) Raise(what AlertType, id, format string, args ...any) {
	s := e.Group.Service(id)
	final := what == AlertDead || what == AlertSilenceOver
	if s != nil && s.AlertOn == AlertOnFinal && !final {
		return
	}

	r := &e.Group.Registry
	r.AlertSeq++
	r.PendingAlerts = append(r.PendingAlerts, Alert{
		Seq: r.AlertSeq, Type: what, ServiceID: id, Message: fmt.Sprintf(format, args...),
		Timestamp: e.Seen.Now, Silenced: s != nil && s.Silence.On(e.Seen.Now),
	})
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

// checkpoint returns the last note that the process of s gave, or the processes before it. A
// process that ends before it gives one takes nothing away (spec §29.1).
func (s *Service) checkpoint() string {
	if s.Notice.Note == "" && s.LastExit != nil {
		return s.LastExit.Note
	}
	return s.Notice.Note
}

// forgetCheckpoint forgets the note of the processes before the one that s has now.
func (s *Service) forgetCheckpoint() {
	if s.LastExit != nil && s.LastExit.Note != "" {
		exit := *s.LastExit
		exit.Note = ""
		s.LastExit = &exit
	}
}

// DiedAt returns when the process of s, which has ended, died: as was reported, if that lies
// between its start and now. Otherwise it returns now, and that the time is not known (spec §11.2).
func (s *Service) DiedAt(now time.Time) (at time.Time, known bool) {
	if s.Ended == nil || s.Ended.At.Before(s.StartedAt) || s.Ended.At.After(now) {
		return now, false
	}
	return s.Ended.At, true
}

// noProcess removes the process of s and its heartbeat.
func (s *Service) noProcess() {
	s.NewProcess(0, observe.Process{})
	s.NoHeartbeat()
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

// ForgetFailure removes the members of failed, restartScheduled and waitingForDependencies.
func (s *Service) ForgetFailure() {
	s.FailedAt, s.NextAttemptAt, s.RestartPending, s.BlockedBy = time.Time{}, time.Time{}, false, ""
	s.StopFor, s.RestartCause = nil, ""
}

// stopped makes s stopped (spec §11.4). If it has failed, its exit is recorded.
func (e *Draft) stopped(s *Service) {
	exit := policy.ReasonStopped
	if s.told() {
		exit = ""
	}
	e.ReleaseTo(s, StateStopped, "stopped", exit)
}

// ReleaseTo brings s to a state without a process. reason is that of the change, and exit that of
// the process's end, or "" if that is recorded.
func (e *Draft) ReleaseTo(s *Service, to ServiceState, reason, exit string) {
	e.SetState(s, to, reason)
	if exit != "" {
		s.RecordExit(e.Seen.Now, exit, "")
	}
	s.Release(e.Seen)
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
