package group

import (
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Finding is what anybody reports of a service.
type Finding struct {
	Service   string
	Starts    []string        // one of them must be its StartID; nil: whatever start it has
	Spend     []policy.Amount // what it has spent beside what it says itself
	Violation string          // the code; "": none
	Detail    string          // of the violation
}

// String returns what alerts say of the violation of f.
func (f Finding) String() string {
	if f.Detail == "" {
		return f.Violation
	}
	return f.Violation + ": " + f.Detail
}

// Report returns g after by has reported f, and what is done about its violation (supervision.md
// §27.3). Only passes send signals: with RulePause, the next one pauses the service, with RuleReap,
// it stops it. A service that does not run is not asked, paused or reaped. Report returns
// ErrNoService, ErrOtherStart, ErrTooManyNames and wire.ErrExhausted.
func (g Group) Report(f Finding, by string, seen observe.Observation) (
	after Group, action policy.RuleAction, err error,
) {
	d := g.Begin("report", by, seen)
	s := d.Service(f.Service)
	switch {
	case s == nil:
		return g, "", ErrNoService
	case s.State.Final(), s.PID == 0 && s.LastHeartbeat.IsZero(),
		f.Starts != nil && !slices.Contains(f.Starts, s.StartID):
		return g, "", ErrOtherStart
	}

	if err := s.spend(f.Spend); err != nil {
		return g, "", err
	}
	if f.Violation != "" {
		action = d.violated(s, f)
	}

	if after, err = d.end(); err != nil {
		return g, "", err
	}
	return after, action, nil
}

// violated records the violation f of s, and begins what the rules of the group say.
func (d *Draft) violated(s *Service, f Finding) policy.RuleAction {
	action := policy.ActionFor(d.Group.Registry.Supervision.Rules, f.Violation)
	s.Violations = s.Violations.with(Violation{
		At: d.Seen.Now, Code: f.Violation, Detail: f.Detail, Action: action, By: d.by,
	})

	runs := s.State == StateRunning
	switch {
	case action == policy.RuleNotify:
		d.Raise(AlertViolation, s.ID, "%s", f)
	case action == policy.RuleWarn && runs:
		s.Asked = s.Asked.without(askViolation).With(askViolation, d.Seen)
		d.Raise(AlertNudged, s.ID, "%s: %s", askViolation, f.Violation)
	case action == policy.RulePause && runs:
		s.pauseNow(d.Seen)
		d.Raise(AlertPaused, s.ID, "%s", f)
	case action == policy.RuleReap && runs:
		s.StopFor = cmp.Or(s.StopFor, &StopFor{
			Reason: policy.ReasonViolation, Detail: f.Violation, Then: ThenDead,
		})
	}
	return action
}
