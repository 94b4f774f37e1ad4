package plan

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// decideEnd decides whether what the services do in this pass ends their group (spec §23.2), and
// reports whether the group ends. plan has their courses.
func (p *planner) decideEnd(plan []course) bool {
	if p.end.State == group.GroupRunning {
		p.memberDead(plan)
	}
	if p.end.State == group.GroupRunning {
		p.autoShutdown(plan)
	}
	return p.ends()
}

// ends reports whether the group is ending or has ended, so that nothing is started.
func (p *planner) ends() bool { return p.end.State != group.GroupRunning }

// begin lets the group end.
func (p *planner) begin(reason policy.EndReason, format string, args ...any) {
	p.end = group.GroupEnd{State: group.GroupEnding, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// memberDead ends the group if a service is given up that it cannot do without.
func (p *planner) memberDead(plan []course) {
	for _, c := range plan {
		if dies, is := stepOf[die](c); is && p.judged[c.id].Service.OnDead == policy.OnDeadEscalate {
			p.begin(policy.EndMemberDead, "%s: %s", c.id, p.gaveUp(c, dies))
			return
		}
	}
}

// gaveUp returns why the service of c is dead.
func (p *planner) gaveUp(c course, step die) string {
	if e := p.lastExit(c); e != nil {
		return step.reason + ": " + e.String()
	}
	return step.reason
}

// autoShutdown ends the group once one of its significant services is over, or all of them.
func (p *planner) autoShutdown(plan []course) {
	mode := p.g.Registry.Supervision.AutoShutdown
	var over []string // and how
	now, rest, reason := false, false, policy.EndAutoShutdown
	for _, c := range plan {
		s := p.judged[c.id].Service
		switch {
		case !s.Significant, mode == policy.ShutdownNever:
			continue
		case s.LeftAlone(p.seen.Now):
			rest = true
			continue
		}

		dies, dead := stepOf[die](c)
		_, completes := stepOf[complete](c)
		before := mode == policy.ShutdownAll && s.State == group.StateDead
		switch {
		case completes:
			over = append(over, c.id+": "+string(group.StateCompleted))
		case dead:
			over = append(over, c.id+": "+p.gaveUp(c, dies))
		case before:
			over = append(over, c.id+": "+string(group.StateDead))
		case !s.State.Final():
			rest = true
		}

		now = now || dead || completes
		if (dead || before) && s.Restart != policy.Temporary {
			reason = policy.EndMemberDead // it has not done what it was for
		}
	}

	if now && (mode == policy.ShutdownAny || !rest) {
		p.begin(reason, "%s", strings.Join(over, "; "))
	}
}

// windDown is the rule of every service in a group that ends: it is stopped, and not started again.
// What it has done by itself in the meantime is recorded first.
func (p *planner) windDown(j judgement) []step {
	s := j.Service
	failed := (s.State == group.StateFailed || s.State == group.StateScheduled) && s.RestartCause == ""
	switch {
	case s.State == group.StateShuttingDown && s.StartAgain:
		stays := *s
		stays.StartAgain = false
		j.Service = &stays
		return then(stayDown{}, p.shuttingDown(j))
	case s.State == group.StateShuttingDown:
		return p.shuttingDown(j)
	case j.failure != nil:
		return p.fail(j, j.failure)
	case failed && s.StopFor != nil:
		return p.stopping(j, s.FailedAt)
	case failed:
		return p.retry(j, s.FailedAt)
	}
	return p.quit(j)
}

// quit stops a service because its group ends.
func (p *planner) quit(j judgement) []step {
	s := *j.Service
	runs := s.State == group.StateRunning && j.failure == nil
	switch {
	case p.mustStop(j):
		s.State = group.StateShuttingDown
		s.ForgetFailure()
		j.Service = &s
		return then(quit{p.end.Reason}, p.shuttingDown(j))
	case runs && j.Evidence == observe.Rebooted:
		return []step{stopped{string(observe.Rebooted)}}
	case runs:
		return []step{stopped{policy.ReasonStopped}}
	}
	return []step{stopped{}}
}

// mustStop reports whether anything of a service is left that a group that ends has to stop.
func (p *planner) mustStop(j judgement) bool {
	return !j.Service.State.Final() && (j.Held(p.seen) || !j.Checkable && j.Heard)
}
