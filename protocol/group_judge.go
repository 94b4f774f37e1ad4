package protocol

import "time"

// JudgeService returns the evidence that s is dead, or "" (spec §4.2, §10), and the age of its
// heartbeat, or 0 if it has none.
func (g Group) JudgeService(s *Service, seen Observation) (Evidence, time.Duration) {
	return seen.judge(s.vital(), g.Orchestrator.StalenessThreshold)
}

func (g Group) dead(s *Service, seen Observation) Evidence {
	evidence, _ := g.JudgeService(s, seen)
	return evidence
}

func (s *Service) gone(seen Observation) Evidence {
	return seen.gone(s.PID, s.Process, s.LastHeartbeat)
}

func (s *Service) identity() Process { return identity(s.PID, s.Process) }

// alive reports whether the process of s is known to be alive.
func (s *Service) alive(seen Observation) bool {
	return seen.canCheck(s.identity()) && s.gone(seen) == ""
}

// heard reports whether s has sent a heartbeat recently.
func (g Group) heard(s *Service, seen Observation) bool {
	return !s.LastHeartbeat.IsZero() && g.dead(s, seen) == ""
}

// held reports whether anything must still be stopped before s can be started again.
func (s *Service) held(seen Observation) bool {
	return s.alive(seen) || s.survived(seen)
}

// TermAge returns how long ago the process of s was asked to end, if it was (spec §11.4).
func (s *Service) TermAge(seen Observation) time.Duration {
	return seen.age(s.TermSentAt, s.TermSentBeat)
}

// survived reports whether processes of the start of s are left.
func (s *Service) survived(seen Observation) bool {
	return s.StartID != "" && seen.canCheck(s.identity()) && seen.Survived != nil &&
		seen.Survived(s)
}

// foreign reports whether the process of s may be alive where this observer cannot look.
func (s *Service) foreign(seen Observation) bool {
	p, here := s.identity(), seen.Host
	if p.HostID == "" || p.HostID != here.ID {
		return p.HostID != ""
	}
	return p.BootID == here.BootID && p.PIDNamespace != "" && here.PIDNamespace != "" &&
		p.PIDNamespace != here.PIDNamespace
}

// taken reports whether no other process can be s.
func (g Group) taken(s *Service, seen Observation) bool {
	return s.held(seen) || s.foreign(seen) && g.heard(s, seen)
}

// Ready reports whether services that depend on id may run.
func (g Group) Ready(id string, seen Observation) bool {
	s := g.Service(id)
	return s != nil && g.ready(s, seen)
}

func (g Group) ready(s *Service, seen Observation) bool {
	return s.State == StateRunning && s.Notice.Readiness == ReadinessReady && g.dead(s, seen) == ""
}

// OrchestratorHeard reports whether the orchestrator of g has made a pass recently (spec §11.1),
// and how long ago the last one was.
func (g Group) OrchestratorHeard(seen Observation) (bool, time.Duration) {
	o := &g.Orchestrator
	if o.Heartbeat.IsZero() {
		return false, 0
	}
	age := seen.age(o.Heartbeat, o.Beat)
	return o.State != OrchestratorStopped && !stale(age, o.StalenessThreshold), age
}

// Deserted reports whether neither the orchestrator nor any service of g shows a sign of life.
func (g Group) Deserted(seen Observation) bool {
	if heard, _ := g.OrchestratorHeard(seen); heard {
		return false
	}

	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if s.held(seen) || g.heard(s, seen) {
			return false
		}
	}

	return true
}
