package group

import "github.com/dpl-project/dpl/protocol/observe"

// A judgement is what a pass finds out about one service before it decides anything: from the
// files, with the graces granted by this pass, and from its observation (spec §11.2).
type judgement struct {
	was       *Service         // the service before the pass; it must not be changed
	evidence  observe.Evidence // that it is dead, or "" if there is none
	gone      bool             // its process has certainly ended
	alive     bool             // its process is known to be alive
	heard     bool             // it has sent a heartbeat recently
	checkable bool             // the observer can check its process
	foreign   bool             // its process may be alive where the observer cannot look
	ready     bool             // services that depend on it may run
	failure   *failure         // why a running service fails in this pass, or nil
	asks      []string         // the clocks and budgets that ask it for a checkpoint
	awaited   bool             // it is gone, and its keeper has yet to say how it ended
	unread    bool             // its exit record could not be read
	unbegun   bool             // it is alive, but its command has not begun
	child     *childView       // of a service that is a group
}

// judgements has the judgement of each service by id.
type judgements map[string]judgement

// judgeAll judges every service of g, in a pass with or without failover. ends is what is on record
// of their ends.
func (g Group) judgeAll(ends map[string]ending, seen observe.Observation,
	failover bool) judgements {
	all := make(judgements, len(g.Registry.Services))
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		j := ends[s.ID].apply(g.judge(s, seen))
		if s.State == StateRunning && !j.awaited && !s.rests(seen.Now) { // otherwise it goes on when its end is known
			j.failure, j.asks = j.judgeRunning(seen, failover)
		}
		all[s.ID] = j
	}
	return all
}

// lookAhead looks at the processes of all services whose state says that they may have one.
func (g Group) lookAhead(seen observe.Observation) {
	if seen.LookAhead == nil {
		return
	}
	var all []observe.Process
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if p := s.Identity(); !s.State.Final() && seen.CanCheck(p) {
			all = append(all, p)
		}
	}
	seen.LookAhead(all)
}

// judge judges s, which must not be changed as long as the judgement is used.
func (g Group) judge(s *Service, seen observe.Observation) judgement {
	j := judgement{was: s}
	if s.State.Final() {
		j.ready = s.State == StateCompleted
		return j // a pass does nothing about it
	}

	j.evidence = g.dead(s, seen)
	j.gone = j.evidence == observe.Exited || j.evidence == observe.Rebooted
	j.checkable, j.foreign = seen.CanCheck(s.Identity()), s.foreign(seen)

	j.alive = j.checkable && !j.gone
	j.heard = !s.LastHeartbeat.IsZero() && j.evidence == "" && !g.pausedLong(s, seen)
	j.ready = s.State == StateRunning && s.Notice.Readiness.Ready() && !s.Unproven() &&
		j.evidence == ""
	if s.isGroup() {
		return j.judgeGroup()
	}
	return j
}

// judgeRunning returns why the running service of j fails in this pass, or nil, and what asks it
// for a checkpoint: clocks and budgets. What it has violated or spent counts although it has ended
// since, unless it has completed: a second start would do it again (spec §27.2, §27.4).
func (j judgement) judgeRunning(seen observe.Observation, failover bool) (*failure, []string) {
	var ended *failure
	if j.failed() {
		ended = j.failEnded(seen, failover)
	}

	over := j.was.StopFor // somebody has reported a violation
	if over == nil {
		over = j.was.overspent()
	}
	switch startLost := j.was.Starting && j.gone; {
	case over != nil && !startLost && !(ended != nil && ended.after.completes()):
		return j.stopFor(*over, seen), nil
	case ended == nil && j.alive && j.was.Paused == nil:
		over, asks := j.judgeClocks(seen)
		if why := j.was.unhealthy(); why != nil && over == nil {
			over = j.stopFor(*why, seen)
		}
		return over, append(asks, j.was.budgetAsks()...)
	}
	return ended, nil
}

// survived reports whether processes of the service's start are left. Call it only if the answer
// matters, because an observer may have to search for a second.
func (j judgement) survived(seen observe.Observation) bool { return j.was.survived(seen) }

// held reports whether anything must still be stopped before the service can be started again.
func (j judgement) held(seen observe.Observation) bool { return j.alive || j.survived(seen) }
