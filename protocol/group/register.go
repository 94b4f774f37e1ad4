package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Registration has the arguments of Register (groups.md §10.1). Nil means not given.
type Registration struct {
	Service      string
	By           string
	Request      bool // a pass must start it; otherwise it is running and registers itself
	PID          int
	Process      observe.Process
	Readiness    observe.Readiness // of a service that registers itself; "" means unchanged
	StartInfo    *StartInfo
	Restartable  *bool
	Restart      policy.RestartType // "" means unchanged
	Dependencies *[]string
	KillTimeout  *time.Duration
	AlertOn      *AlertOn
	KeepEnded    *time.Duration

	OnDead      *policy.OnDead
	Significant *bool
	Resume      bool // let the group run again if it has ended

	DependenciesCompleted *[]string
	Heartbeats            *bool // whether it promises heartbeats
	Fresh                 bool  // remove all other services if g is deserted
}

// Register returns g after the registration of a service (§10.1). It returns ErrShuttingDown,
// ErrOtherProcess if another process of the service is alive or has sent a heartbeat,
// ErrNoStartInfo for a request without a command, ErrTwoClasses for a command with an exit status
// in two classes, ErrCycle with the path if the service would depend on itself, ErrSignificant,
// ErrStillRunning if it would become another group, ErrGroupEnded unless it is resumed, and
// ErrExhausted.
func (g Group) Register(r Registration, seen observe.Observation) (Group, error) {
	d := g.Begin("register", r.By, seen)
	if r.Fresh && len(g.Registry.Services) > 0 && g.Deserted(d.Seen) {
		d.Group.Registry.Services, d.Group.effects.Cleared = nil, true
		d.Group.Registry.Supervision.revive()
	}
	if r.Resume {
		d.resume()
	}
	if err := d.Group.Registry.checkRuns(); err != nil {
		return g, err
	}

	s := d.Service(r.Service)
	if err := r.check(d.Group, s, d.Seen); err != nil {
		return g, err
	}

	if s == nil {
		last := d.Group.Registry.lastOrder()
		if last >= wire.LastRevision {
			return g, wire.ErrExhausted
		}

		all := append(d.Services(), newService(r.Service))
		d.Group.Registry.Services, s = all, &all[len(all)-1]
		s.Order = last + 1
	}

	r.replace(s)
	if s.Significant && s.Restart == policy.Permanent {
		return g, ErrSignificant
	}

	// Only given dependencies are checked: those on record may be of services that are gone.
	given := r.Dependencies != nil || r.DependenciesCompleted != nil
	if given {
		if err := d.Group.Registry.checkCycle(s.ID); err != nil {
			return g, err
		}
	}

	if r.Request {
		d.request(s)
	} else {
		d.registerSelf(s, r)
	}

	return d.end()
}

// check returns the reason to refuse r. s is the existing service, or nil.
func (r Registration) check(g Group, s *Service, seen observe.Observation) error {
	switch p := observe.Identity(r.PID, r.Process); {
	case s != nil && s.State == StateShuttingDown:
		return ErrShuttingDown
	case !r.Request && (r.StartInfo != nil && r.StartInfo.Group != "" || s != nil && s.IsGroup()):
		return observe.ErrOtherProcess
	case !r.Request && s != nil && (p.Known() || !s.Alive(seen)) && !p.Is(s.Identity()) &&
		g.taken(s, seen):
		return observe.ErrOtherProcess
	case r.Request && r.StartInfo == nil && (s == nil || s.StartInfo == nil):
		return ErrNoStartInfo
	case r.StartInfo != nil && r.StartInfo.ExitStatus.Twice():
		return ErrTwoClasses
	}

	return g.becomes(s, r.StartInfo, seen)
}

// replace copies the given members of r to s.
func (r Registration) replace(s *Service) {
	if r.StartInfo != nil {
		s.Restartable, s.Heartbeats = true, false
		if s.StartInfo == nil || !s.StartInfo.equal(r.StartInfo) {
			s.startInfoChanges(r.StartInfo)
		}
	}

	if r.Restartable != nil {
		s.Restartable = *r.Restartable
	}
	if r.Restart != "" {
		s.Restart = r.Restart
	}
	if r.Dependencies != nil {
		s.Dependencies = *r.Dependencies
	}
	if r.DependenciesCompleted != nil {
		s.DependenciesCompleted = *r.DependenciesCompleted
	}
	if r.KillTimeout != nil {
		s.KillTimeout = *r.KillTimeout
	}
	if r.OnDead != nil {
		s.OnDead = *r.OnDead
	}
	if r.Significant != nil {
		s.Significant = *r.Significant
	}
	if r.AlertOn != nil {
		s.AlertOn = *r.AlertOn
	}
	if r.KeepEnded != nil {
		s.KeepEnded = *r.KeepEnded
	}
	if r.Heartbeats != nil {
		s.Heartbeats = *r.Heartbeats
	}
}

// registerSelf registers s as running, by its process (step 4 of §10.1).
func (d *Draft) registerSelf(s *Service, r Registration) {
	alive := s.Alive(d.Seen)
	if p := observe.Identity(r.PID, r.Process); !alive && (!p.Known() || !p.Is(s.Identity())) {
		s.NewProcess(r.PID, p)
	}
	if s.State == "" { // a new entry has no event of its readiness
		s.Notice = s.Notice.With(observe.Report{Readiness: r.Readiness})
	}

	since := d.Seen.Now
	if s.State == StateRunning {
		since = s.begunAt(since)
	}
	s.Refresh(d.Seen)
	s.Starting = false
	mustEnd := alive && (!s.TermSentAt.IsZero() || s.StopFor != nil) || d.Group.Registry.InSet(s.ID)
	stopping := (s.State == StateFailed || s.State == StateScheduled) && mustEnd
	if !stopping && s.State != StateRunning {
		d.runOrWait(s)
	}
	if s.State == StateRunning && s.RunningSince.IsZero() {
		s.RunningSince = since
	}

	d.Report(s, observe.Report{Readiness: r.Readiness})
}

func (d *Draft) runOrWait(s *Service) {
	to := StateRunning
	if !d.Group.dependenciesReady(s, d.Seen) {
		to = StateWaiting
	}

	if s.State == StateFailed || s.State.Final() {
		s.ForgetLimits()
	}

	blockedBy := s.BlockedBy
	s.forgetEnd()
	if to == StateWaiting && s.State == StateWaiting {
		s.BlockedBy = blockedBy
	}

	d.SetState(s, to, "")
}
