package group

import (
	"fmt"
	"slices"

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

// Service returns the entry of id, which may be changed, or nil.
func (e *Draft) Service(id string) *Service {
	if i := e.Group.Registry.index(id); i >= 0 {
		return &e.Services()[i]
	}
	return nil
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

// end returns the group after the edit. With ErrExhausted it returns the group before it.
func (e *Draft) end() (Group, error) {
	after := e.After()
	revision := after.Registry.Revision
	if revision > wire.LastRevision && revision != e.Before.Registry.Revision {
		return e.Before, wire.ErrExhausted
	}
	return after, nil
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

// ReleaseTo brings s to a state without a process. reason is that of the change, and exit that of
// the process's end, or "" if that is recorded.
func (e *Draft) ReleaseTo(s *Service, to ServiceState, reason, exit string) {
	e.SetState(s, to, reason)
	if exit != "" {
		s.RecordExit(e.Seen.Now, exit, "")
	}
	s.Release(e.Seen)
}

// stopped makes s stopped (spec §11.4). If it has failed, its exit is recorded.
func (e *Draft) stopped(s *Service) {
	exit := policy.ReasonStopped
	if s.exitRecorded() {
		exit = ""
	}
	e.ReleaseTo(s, StateStopped, "stopped", exit)
}
