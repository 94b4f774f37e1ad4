package group

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An End says that a group has ended, or is ending, and why (spec §23). Its zero value is that of a
// group that runs.
type End struct {
	State   GroupState
	Reason  policy.EndReason
	Message string    // the same, in words
	At      time.Time // when it had ended
}

// String returns what people are told, such as "memberDead: a: 5 attempts: exited: status 1".
func (e End) String() string {
	if e.Message == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Message
}

// A GroupState says whether a group runs.
type GroupState string

const (
	GroupRunning GroupState = ""
	GroupEnding  GroupState = "ending" // its services are being stopped
	GroupEnded   GroupState = "ended"  // all of them are over
)

// members are those of an end, among those of a supervision.
func (e *End) members(c *wire.Codec) {
	usually(c, "state", &e.State, "word", "running", GroupEnding, GroupEnded)
	c.String("reason", (*string)(&e.Reason), wire.IfSet)
	c.String("message", &e.Message, wire.IfSet)
	c.TimeOrNull("endedAt", &e.At, wire.IfSet)
}

// Resume returns g, which is ending or has ended, running again (spec §23.4): the services that
// have a command, and that nobody asked to stop, are started again. If the group ended because the
// service that it is was stopped, those that have completed stay so. A group that runs stays as it
// is. Resume returns ErrExhausted.
func (g Group) Resume(by string, seen observe.Observation) (Group, error) {
	e := g.Begin("resume", by, seen)
	e.resume()
	return e.end()
}

func (e *Draft) resume() {
	if e.Group.Registry.Supervision.End.State == GroupRunning {
		return
	}

	requested := e.Group.Registry.Supervision.End.Reason == policy.EndRequested
	e.Group.Registry.Supervision.revive()
	for _, id := range e.Group.Registry.Ordered() {
		switch s := e.Service(id); {
		case s.StartInfo == nil || s.StoppedBy != "" || s.RemoveAfterStop:
		case requested && (s.State == StateCompleted || s.DidItsWork()):
		case s.State == StateShuttingDown:
			s.StartAgain = true
		default:
			e.request(s)
		}
	}
}

// revive lets a group run as if it had never failed. Its parent begins it again if it is to run for
// that (spec §24.3).
func (v *Supervision) revive() { v.End, v.Restarts, v.Parent = End{}, nil, Parent{} }

// checkRuns returns ErrGroupEnded, with the reason, if the group is ending or has ended.
func (r Registry) checkRuns() error {
	if end := r.Supervision.End; end.State != GroupRunning {
		return fmt.Errorf("%w: %s", ErrGroupEnded, end)
	}
	return nil
}
