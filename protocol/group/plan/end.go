package plan

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// groupEnd returns the end of the group after this pass: whether what the services do ends it
// (supervision.md §23.2).
func (o outlook) groupEnd() group.GroupEnd {
	if o.ends() {
		return o.end
	}
	for _, end := range []group.GroupEnd{o.memberDead(), o.autoShutdown()} {
		if end.State != group.GroupRunning {
			return end
		}
	}
	return o.end
}

// memberDead returns the end of the group if a service is given up that it cannot do without.
func (o outlook) memberDead() (end group.GroupEnd) {
	for _, c := range o.courses {
		if dies, is := stepOf[die](c); is && o.judged[c.id].Service.OnDead == policy.OnDeadEscalate {
			return ending(policy.EndMemberDead, "%s: %s", c.id, o.gaveUp(c, dies))
		}
	}
	return end
}

// gaveUp returns why the service of c is dead.
func (o outlook) gaveUp(c course, step die) string {
	if e := o.lastExit(c); e != nil {
		return step.reason + ": " + e.String()
	}
	return step.reason
}

// autoShutdown returns the end of the group once one of its significant services is over, or all of
// them.
func (o outlook) autoShutdown() (end group.GroupEnd) {
	mode := o.group.Registry.Supervision.AutoShutdown
	var over []string // and how
	now, left, reason := false, false, policy.EndAutoShutdown
	for _, c := range o.courses {
		s := o.judged[c.id].Service
		switch {
		case !s.Significant, mode == policy.ShutdownNever:
			continue
		case s.LeftAlone(o.seen.Now):
			left = true
			continue
		}

		dies, dead := stepOf[die](c)
		_, completes := stepOf[complete](c)
		before := mode == policy.ShutdownAll && s.State == group.StateDead
		switch {
		case completes:
			over = append(over, c.id+": "+string(group.StateCompleted))
		case dead:
			over = append(over, c.id+": "+o.gaveUp(c, dies))
		case before:
			over = append(over, c.id+": "+string(group.StateDead))
		case !s.State.Final():
			left = true
		}

		now = now || dead || completes
		if (dead || before) && s.Restart != policy.Temporary {
			reason = policy.EndMemberDead // it has not done what it was for
		}
	}

	if now && (mode == policy.ShutdownAny || !left) {
		return ending(reason, "%s", strings.Join(over, "; "))
	}
	return end
}
