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

// edit is one edit of a group in progress, on a copy.
type edit struct {
	g      Group
	before Group
	seen   observe.Observation
	by     string
	copied bool // the services of g are a copy: see services
	beaten bool // a heartbeat changed, which counts as an edit even at the same time
}

// begin returns an edit of a copy of g by verb.
func (g Group) begin(verb, by string, seen observe.Observation) *edit {
	seen.Now = wire.Moment(seen.Now)
	e := &edit{g: g, before: g, seen: seen, by: by}
	e.g.effects, e.g.ends = Effects{Verb: verb}, nil
	r := &e.g.Registry
	r.Revision++
	r.PendingAlerts = slices.Clip(r.PendingAlerts)
	r.Events = slices.Clip(r.Events)

	return e
}

// services returns the services of e, which may be changed. It copies them before the first change:
// a service is large, and most passes change none. What points to one before that sees no change.
func (e *edit) services() []Service {
	if !e.copied {
		e.g.Registry.Services, e.copied = slices.Clone(e.g.Registry.Services), true
	}
	return e.g.Registry.Services
}

// end returns the group after the edit. With ErrExhausted it returns the group before it.
func (e *edit) end() (Group, error) {
	after := e.after()
	revision := after.Registry.Revision
	if revision > wire.LastRevision && revision != e.before.Registry.Revision {
		return e.before, wire.ErrExhausted
	}
	return after, nil
}

// after returns the group after the edit. If the registry has not changed, its revision stays.
func (e *edit) after() Group {
	r := &e.g.Registry
	if !e.beaten && r.same(e.before.Registry) {
		e.g.Registry, e.g.effects = e.before.Registry, Effects{}
		return e.g
	}

	r.Supervision.Set = r.remaining(r.Supervision.Set)
	for i := range e.services() {
		s := &r.Services[i]
		s.Vitals, s.TermSentBeat = s.Counting(), s.TermSentBeat.Counting(s.TermSentAt)
		s.StartedBeat = s.StartedBeat.Counting(s.StartedAt)
		s.ProgressBeat = s.ProgressBeat.Counting(s.ProgressAt)
		s.GoneBeat = s.GoneBeat.Counting(s.GoneSince)
	}

	return e.g
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

// service returns the entry of id, which may be changed, or nil.
func (e *edit) service(id string) *Service {
	if i := e.g.Registry.index(id); i >= 0 {
		return &e.services()[i]
	}
	return nil
}

func (e *edit) setState(s *Service, to ServiceState, reason string) {
	e.setStateFor(s, to, reason, "")
}

// setStateFor changes the state of s because of the service cause, if that is not "".
func (e *edit) setStateFor(s *Service, to ServiceState, reason, cause string) {
	if s.State == to {
		return
	}
	e.append(observe.Event{Type: observe.SupervisorState, SupervisorID: s.ID,
		From: string(s.State), To: string(to), Reason: reason, CauseID: cause})
	s.State = to
}

// say records a report of s about itself.
func (e *edit) say(s *Service, say observe.Report) {
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
func (e *edit) event(id, from, to string) {
	e.append(observe.Event{Type: observe.SupervisorState, SupervisorID: id, From: from, To: to})
}

// append appends v to the ring of events.
func (e *edit) append(v observe.Event) {
	r := &e.g.Registry
	r.Events = observe.Append(r.Events, v, r.Revision, e.by, e.seen)
}

// raise raises an alert (spec §9.4), unless the service wants only those of its end (§30.2).
func (e *edit) raise(what AlertType, id, format string, args ...any) {
	s := e.g.Service(id)
	final := what == AlertDead || what == AlertSilenceOver
	if s != nil && s.AlertOn == AlertOnFinal && !final {
		return
	}

	r := &e.g.Registry
	r.AlertSeq++
	r.PendingAlerts = append(r.PendingAlerts, Alert{
		Seq: r.AlertSeq, Type: what, ServiceID: id, Message: fmt.Sprintf(format, args...),
		Timestamp: e.seen.Now, Silenced: s != nil && s.Silence.On(e.seen.Now),
	})
}

// exited records that the process of s has ended for reason, with detail unless that is "", and
// with what was reported about the end.
func (s *Service) exited(now time.Time, reason, detail string) {
	exit := policy.Exit{}
	if s.Ended != nil {
		exit = *s.Ended
	}
	exit.At, _ = s.diedAt(now)
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

// diedAt returns when the process of s, which has ended, died: as was reported, if that lies
// between its start and now. Otherwise it returns now, and that the time is not known (spec §11.2).
func (s *Service) diedAt(now time.Time) (at time.Time, known bool) {
	if s.Ended == nil || s.Ended.At.Before(s.StartedAt) || s.Ended.At.After(now) {
		return now, false
	}
	return s.Ended.At, true
}

// noProcess removes the process of s and its heartbeat.
func (s *Service) noProcess() {
	s.setProcess(0, observe.Process{})
	s.NoHeartbeat()
}

// setProcess gives s another process, which no pass has started.
func (s *Service) setProcess(pid int, p observe.Process) {
	s.replaceProcess(pid, p)
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

// replaceProcess gives s another process, and leaves what belongs to a start.
func (s *Service) replaceProcess(pid int, p observe.Process) {
	s.SetProcess(pid, p)
	s.nested = s.nested.Without("keeper")
}

// forgetFailure removes the members of failed, restartScheduled and waitingForDependencies.
func (s *Service) forgetFailure() {
	s.FailedAt, s.NextAttemptAt, s.RestartPending, s.BlockedBy = time.Time{}, time.Time{}, false, ""
	s.StopFor, s.RestartCause = nil, ""
}

// stopped makes s stopped (spec §11.4). If it has failed, its exit is recorded.
func (e *edit) stopped(s *Service) {
	exit := policy.ReasonStopped
	if s.told() {
		exit = ""
	}
	e.released(s, StateStopped, "stopped", exit)
}

// released brings s to a state without a process. reason is that of the change, and exit that of
// the process's end, or "" if that is recorded.
func (e *edit) released(s *Service, to ServiceState, reason, exit string) {
	e.setState(s, to, reason)
	if exit != "" {
		s.exited(e.seen.Now, exit, "")
	}
	s.release(e.seen)
}

// release removes the members about the process of s, its failure and its stop. A process that may
// be alive elsewhere stays on record.
func (s *Service) release(seen observe.Observation) {
	was, foreign := s.Vitals, s.foreign(seen)
	if s.noProcess(); foreign {
		s.Vitals = was
		s.NoHeartbeat()
	}
	s.forgetFailure()
	s.StopRequestedAt, s.StartAgain, s.RemoveAfterStop = time.Time{}, false, false
}
