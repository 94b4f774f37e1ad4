package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A charge is a failure that counts for the limit of a group, or several that count as one.
type charge struct {
	at    time.Time      // the first death
	order *group.Service // whose death that was
	exit  *policy.Exit   // of that service
	ids   []string       // the services that failed
}

// count charges the group for what fails in this pass. alone has the course that each service would
// take by itself. Afterwards, the planner knows which services are parked, and what still counts.
func (p *planner) count(alone []course) (changed bool) {
	limit := p.g.Registry.Supervision.Limit
	for _, c := range p.charges(alone) {
		p.restarts = policy.Charge(p.restarts, c.at, limit.Period, p.seen.Now)
		if !limit.Exceeded(p.restarts) {
			continue
		}

		changed = true
		if limit.OnIntensity == policy.Escalate {
			p.begin(policy.EndIntensity, "more than %s in %s, the last of %s: %s",
				policy.Counted(limit.Intensity, "failure"), policy.InWords(limit.Period), c.order.ID, c.exit)
			return true
		}
		for _, id := range c.ids {
			p.parked[id] = limit.OnIntensity == policy.Park
		}
	}
	return changed
}

// charges returns the charges of a pass in order of their times. What restarts together counts
// once. A failure of a service that waits to start with its set has been counted.
func (p *planner) charges(alone []course) (all []charge) {
	v := &p.g.Registry.Supervision
	if v.Limit.Period == 0 {
		return nil
	}

	for _, c := range alone {
		if !p.isCause(c) || p.g.Registry.InSet(c.id) {
			continue
		}
		if e := p.lastExit(c); e != nil && e.Charged() {
			all = append(all, charge{e.At, p.judged[c.id].Service, e, []string{c.id}})
		}
	}

	slices.SortFunc(all, func(a, b charge) int {
		return cmp.Or(a.at.Compare(b.at), group.InOrder(a.order, b.order))
	})
	if !v.Strategy.Together() || len(all) == 0 {
		return all
	}

	for _, c := range all[1:] {
		all[0].ids = append(all[0].ids, c.ids...)
	}
	return all[:1]
}

// lastExit returns how the service of c, which fails or has failed, has ended.
func (p *planner) lastExit(c course) *policy.Exit {
	if f, fails := stepOf[fail](c); fails {
		return f.After.LastExit
	}

	s := *p.judged[c.id].Service
	if _, settles := stepOf[settle](c); settles {
		s.SettleExit(p.seen.Now)
	}
	return s.LastExit
}

// notBefore returns the time before which the group restarts no service whose last end was charged,
// or zero.
func (p *planner) notBefore(s *group.Service) time.Time {
	limit := p.g.Registry.Supervision.Limit
	if limit.OnIntensity != policy.Delay || !limit.Exceeded(p.restarts) || s.LastExit == nil ||
		!s.LastExit.Charged() {
		return time.Time{}
	}
	return wire.Later(p.restarts[0], limit.Period)
}

// parkedReason is why a service is dead because of the intensity of its group.
const parkedReason = "intensity of the group"

// park gives a service up because of the intensity of its group, after stopping what a pass has
// started.
func (p *planner) park(j judgement) []step {
	if p.ours(j) && j.Held(p.seen) {
		return then(doom{}, p.stop(j))
	}
	return []step{die{parkedReason}}
}
