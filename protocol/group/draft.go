package group

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Draft is a group that a verb is changing: a copy. A verb begins a draft, changes it, and
// returns the group after it.
type Draft struct {
	Group  Group // as far as it has been changed
	Before Group // as it was
	Seen   observe.Observation
	by     string // who asked for the change
	copied bool   // the services of Group are a copy: see Services
	beaten bool   // a heartbeat changed, which counts as an edit even at the same time
}

// Begin returns a draft of g for verb, which by asked for. It has the next revision.
func (g Group) Begin(verb, by string, seen observe.Observation) *Draft {
	seen.Now = wire.Moment(seen.Now)
	d := &Draft{Group: g, Before: g, Seen: seen, by: by}
	d.Group.effects, d.Group.ends = Effects{Verb: verb}, nil

	// What is appended must not reach the arrays of g.
	r := &d.Group.Registry
	r.Revision++
	r.PendingAlerts = slices.Clip(r.PendingAlerts)
	r.Events = slices.Clip(r.Events)
	return d
}

// Services returns the services of d, which may be changed. It copies them before the first change:
// a service is large, and most passes change none. What points to one before that sees no change.
func (d *Draft) Services() []Service {
	if !d.copied {
		d.Group.Registry.Services, d.copied = slices.Clone(d.Group.Registry.Services), true
	}
	return d.Group.Registry.Services
}

// Service returns the entry of id, which may be changed, or nil.
func (d *Draft) Service(id string) *Service {
	if i := d.Group.Registry.index(id); i >= 0 {
		return &d.Services()[i]
	}
	return nil
}

// After returns the group after the edit. If the registry has not changed, its revision stays.
func (d *Draft) After() Group {
	r := &d.Group.Registry
	if !d.beaten && r.same(d.Before.Registry) {
		d.Group.Registry, d.Group.effects = d.Before.Registry, Effects{}
		return d.Group
	}

	r.Supervision.Set = r.Remaining(r.Supervision.Set)
	for i := range d.Services() {
		s := &r.Services[i]
		s.Vitals, s.TermSentBeat = s.Counting(), s.TermSentBeat.Counting(s.TermSentAt)
		s.StartedBeat = s.StartedBeat.Counting(s.StartedAt)
		s.ProgressBeat = s.ProgressBeat.Counting(s.ProgressAt)
		s.GoneBeat = s.GoneBeat.Counting(s.GoneSince)
	}

	return d.Group
}

// end returns the group after the edit. With ErrExhausted it returns the group before it.
func (d *Draft) end() (Group, error) {
	after := d.After()
	revision := after.Registry.Revision
	if revision > wire.LastRevision && revision != d.Before.Registry.Revision {
		return d.Before, wire.ErrExhausted
	}
	return after, nil
}

// SetState changes the state of s, with an event, unless it is that already.
func (d *Draft) SetState(s *Service, to ServiceState, reason string) {
	d.SetStateFor(s, to, reason, "")
}

// SetStateFor changes the state of s because of the service cause, if that is not "".
func (d *Draft) SetStateFor(s *Service, to ServiceState, reason, cause string) {
	if s.State == to {
		return
	}
	d.append(observe.Event{Type: observe.SupervisorState, SupervisorID: s.ID,
		From: string(s.State), To: string(to), Reason: reason, CauseID: cause})
	s.State = to
}

// Report records a report of s about itself.
func (d *Draft) Report(s *Service, say observe.Report) {
	before := s.Notice
	s.Notice = before.With(say)
	if say.Note != nil && *say.Note == "" {
		s.forgetCheckpoint()
	}
	if s.Notice.Readiness != before.Readiness {
		d.append(observe.Event{Type: observe.SupervisorReadiness, SupervisorID: s.ID,
			From: string(before.Readiness), To: string(s.Notice.Readiness)})
	}
}

// event records that a service was added or removed.
func (d *Draft) event(id, from, to string) {
	d.append(observe.Event{Type: observe.SupervisorState, SupervisorID: id, From: from, To: to})
}

// append appends v to the ring of events.
func (d *Draft) append(v observe.Event) {
	r := &d.Group.Registry
	r.Events = observe.Append(r.Events, v, r.Revision, d.by, d.Seen)
}

// Raise raises an alert (groups.md §9.4), unless the service wants only those of its end
// (supervision.md §30.2).
func (d *Draft) Raise(what AlertType, id, format string, args ...any) {
	s := d.Group.Service(id)
	final := what == AlertDead || what == AlertSilenceOver
	if s != nil && s.AlertOn == AlertOnFinal && !final {
		return
	}

	r := &d.Group.Registry
	r.AlertSeq++
	r.PendingAlerts = append(r.PendingAlerts, Alert{
		Seq: r.AlertSeq, Type: what, ServiceID: id, Message: fmt.Sprintf(format, args...),
		Timestamp: d.Seen.Now, Silenced: s != nil && s.Silence.On(d.Seen.Now),
	})
}

// ReleaseTo brings s to a state without a process. reason is that of the change, and exit that of
// the process's end, or "" if that is recorded.
func (d *Draft) ReleaseTo(s *Service, to ServiceState, reason, exit string) {
	d.SetState(s, to, reason)
	if exit != "" {
		s.RecordExit(d.Seen.Now, exit, "")
	}
	s.Release(d.Seen)
}

// stopped makes s stopped (§11.4). If it has failed, its exit is recorded.
func (d *Draft) stopped(s *Service) {
	exit := policy.ReasonStopped
	if s.exitRecorded() {
		exit = ""
	}
	d.ReleaseTo(s, StateStopped, "stopped", exit)
}
