package protocol

import (
	"fmt"
	"slices"
	"time"
)

// startedFor is how long ago a start must be so that a process which is alive has certainly become the service.
const startedFor = time.Second

// pass is the decision of a pass in progress. Its methods are the rules of spec §11.3.
type pass struct {
	*groupEdit
	failover bool
	ready    map[string]bool // by service, before this pass
	decision *Decision
	rebooted []string // services that are started again after a reboot
}

func (p *pass) look(s *Service) {
	switch s.State {
	case StateRunning:
		p.running(s)
	case StateRegistered, StateWaiting:
		p.waiting(s, "registered")
	case StateFailed, StateScheduled:
		p.failed(s)
	case StateShuttingDown:
		p.shuttingDown(s)
	}
}

func (p *pass) running(s *Service) {
	if s.Starting && s.gone(p.seen) != "" {
		p.setState(s, StateRegistered, "startLost")
		s.Starting = false
		p.waiting(s, "startLost")
		return
	}
	evidence := p.g.dead(s, p.seen)
	if evidence == Rebooted && s.Restartable && s.StartInfo != nil {
		p.startAfterReboot(s)
		return
	}
	if evidence != "" {
		p.fail(s, evidence)
		return
	}
	alive := s.alive(p.seen)
	if s.RunningSince.IsZero() && alive || s.RunningSince.After(p.seen.Now) {
		s.RunningSince = p.seen.Now
	}
	if alive && s.Starting && !s.StartedAt.IsZero() && p.seen.Now.Sub(s.StartedAt) >= startedFor {
		s.Starting = false
	}
	if s.RestartAttempts > 0 && !s.RunningSince.IsZero() && p.seen.Now.Sub(s.RunningSince) > s.policy().ResetAfter {
		s.RestartAttempts = 0
	}
}

// startAfterReboot starts s again, which has not failed: no attempt is charged.
func (p *pass) startAfterReboot(s *Service) {
	s.exited(p.seen.Now, string(Rebooted))
	p.setState(s, StateRegistered, string(Rebooted))
	s.RunningSince = time.Time{}
	p.rebooted = append(p.rebooted, s.ID)
	p.waiting(s, string(Rebooted))
}

func (s *Service) policy() RestartPolicy {
	if s.StartInfo == nil {
		return DefaultPolicy()
	}
	return s.StartInfo.Policy
}

// fail lets s fail, and goes on with what follows.
func (p *pass) fail(s *Service, reason Evidence) {
	s.exited(p.seen.Now, string(reason))
	if !s.alive(p.seen) && s.survived(p.seen) && s.LastExit.Error == "" {
		s.LastExit.Error = "processes of it are left"
	}
	p.setState(s, StateFailed, s.LastExit.String())
	s.FailedAt = p.seen.Now
	s.RunningSince, s.Starting, s.NextAttemptAt, s.BlockedBy = time.Time{}, false, time.Time{}, ""
	p.raise(AlertFailed, s.ID, "%s", s.LastExit)
	p.failed(s)
}

// waiting is the rule of registered and waitingForDependencies. firstReason is why it is started, if that is no restart.
func (p *pass) waiting(s *Service, firstReason string) {
	if !p.dependenciesReady(s) {
		p.wait(s)
		return
	}
	s.BlockedBy = ""
	switch evidence := p.g.dead(s, p.seen); {
	case s.alive(p.seen), p.g.heard(s, p.seen):
		p.setState(s, StateRunning, "")
		s.RestartPending, s.TermSentAt = false, time.Time{}
		if s.RunningSince.IsZero() {
			s.RunningSince = p.seen.Now
		}
		if s.LastHeartbeat.IsZero() { // or it would never be stale
			p.beat(s)
		}
	case s.StartInfo != nil:
		p.start(s, s.RestartPending, firstReason)
	case evidence == "":
		p.fail(s, Exited)
	default:
		p.fail(s, evidence)
	}
}

func (p *pass) dependenciesReady(s *Service) bool {
	for _, d := range s.Dependencies {
		if !p.ready[d] {
			return false
		}
	}
	return true
}

// wait makes s wait for its dependencies.
func (p *pass) wait(s *Service) {
	p.setState(s, StateWaiting, "")
	blockedBy := ""
	for _, d := range s.Dependencies {
		state := "missing"
		if on := p.before.Service(d); on != nil {
			state = string(on.State)
		}
		if state == "missing" || ServiceState(state).final() {
			blockedBy = d + ": " + state
			break
		}
	}
	p.block(s, blockedBy)
}

func (p *pass) block(s *Service, by string) {
	if by != "" && by != p.before.Service(s.ID).BlockedBy {
		p.raise(AlertBlocked, s.ID, "%s", by)
	}
	s.BlockedBy = by
}

// failed is the rule of failed and restartScheduled.
func (p *pass) failed(s *Service) {
	policy := s.policy()
	switch {
	case !s.Restartable || s.StartInfo == nil:
		p.die(s, "not restartable")
		return
	case s.RestartAttempts >= policy.MaxAttempts:
		p.die(s, fmt.Sprintf("%d attempts", s.RestartAttempts))
		return
	}
	if s.FailedAt.IsZero() {
		s.FailedAt = p.seen.Now
	}
	s.NextAttemptAt = later(s.FailedAt, policy.Backoff[min(s.RestartAttempts, len(policy.Backoff)-1)])
	switch {
	case p.seen.Now.Before(s.NextAttemptAt) && !p.seen.Now.Before(s.FailedAt):
		p.setState(s, StateScheduled, "")
	case p.stop(s):
	case !p.dependenciesReady(s):
		s.RestartPending = true
		p.wait(s)
	default:
		p.start(s, true, "")
	}
}

// die gives s up. What a pass has started is not left behind.
func (p *pass) die(s *Service, reason string) {
	if !s.StartedAt.IsZero() && p.stop(s) {
		return
	}
	p.setState(s, StateDead, reason)
	s.NextAttemptAt, s.RestartPending, s.BlockedBy, s.TermSentAt = time.Time{}, false, "", time.Time{}
	if why := s.whyDead(); why != "" {
		reason += ": " + why
	}
	p.raise(AlertDead, s.ID, "%s", reason)
}

func (p *pass) shuttingDown(s *Service) {
	for i := range p.before.Registry.Services {
		d := &p.before.Registry.Services[i]
		if d.State == StateShuttingDown && d.ID != s.ID && slices.Contains(d.Dependencies, s.ID) {
			return
		}
	}
	if p.stop(s) || !p.seen.canCheck(s.identity()) && p.g.heard(s, p.seen) {
		return
	}
	if !s.StartAgain {
		p.stopped(s)
		return
	}
	p.released(s, StateRegistered, "restart", "stopped")
	s.RestartAttempts = 0
	p.waiting(s, "registered")
}

// stop asks for s to be stopped if anything of it is left, and reports whether that is so (spec §11.4).
func (p *pass) stop(s *Service) bool {
	if !s.held(p.seen) {
		return false
	}
	a := Action{ServiceID: s.ID, Signal: Term, To: ToSurvivors, PID: s.PID, Process: s.identity()}
	if s.alive(p.seen) {
		a.To = ToProcess
		if !s.StartedAt.IsZero() {
			a.To = ToGroup
		}
	}
	switch waited := s.TermAge(p.seen); {
	case s.TermSentAt.IsZero():
		s.TermSentAt, s.TermSentBeat = p.seen.Now, p.seen.beat()
	case waited >= s.KillTimeout || waited < 0:
		a.Signal = Kill
	default:
		return true
	}
	p.decision.Actions = append(p.decision.Actions, a)
	return true
}

// whyDead says why s, which is given up, has ended; "": that is not known.
func (s *Service) whyDead() string {
	switch e := s.LastExit; {
	case e == nil:
		return ""
	case e.Reason == string(Exited) && e.Code == "" && !s.StartedAt.IsZero():
		return e.String() + ": nobody saw how: keep it in the foreground, or run it under dpl-run --group"
	default:
		return e.String()
	}
}

// start starts s. What it had before is stopped first.
func (p *pass) start(s *Service, restart bool, firstReason string) {
	if s.foreign(p.seen) && !p.failover {
		p.block(s, "process elsewhere")
		return
	}
	if p.stop(s) {
		return
	}
	reason := firstReason
	waited := reason == "registered" // perhaps since a reboot
	if waited && s.LastExit != nil && s.LastExit.Reason == string(Rebooted) {
		reason = string(Rebooted)
	}
	if restart {
		last := LastExit{Reason: string(Exited)}
		if s.LastExit != nil && s.LastExit.Reason != "" {
			last = *s.LastExit
		}
		reason = last.Reason
		s.RestartAttempts++
		s.LastRestartAttempt = p.seen.Now
		p.raise(AlertRestarted, s.ID, "attempt %d: %s", s.RestartAttempts, last)
	}
	p.setState(s, StateRunning, reason)
	s.setProcess(0, Process{})
	s.forgetFailure()
	s.StopRequestedAt = time.Time{}
	s.Notice.Readiness = s.StartInfo.Readiness
	p.beat(s)
	s.StartedAt, s.Attempt, s.Starting = p.seen.Now, s.RestartAttempts, true
	p.decision.Actions = append(p.decision.Actions, Action{ServiceID: s.ID, Start: true, Attempt: s.Attempt, Reason: reason})
}
