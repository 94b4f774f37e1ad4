package group

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Limit says how many failures of its services a group stands in a time, and what follows a
// further one (spec §21.3). Its zero value limits nothing.
type Limit struct {
	Intensity   int
	Period      time.Duration // 0: there is no limit
	OnIntensity OnIntensity
}

// An OnIntensity is what follows when the intensity of a group is exceeded.
type OnIntensity string

const (
	Escalate OnIntensity = "escalate" // the group ends
	Park     OnIntensity = "park"     // the services that failed are dead
	Delay    OnIntensity = "delay"    // restarts wait until the oldest failure no longer counts
)

func (o OnIntensity) valid() bool { return o == Escalate || o == Park || o == Delay }

// exceeded reports whether restarts are more than l allows.
func (l Limit) exceeded(restarts []time.Time) bool {
	return l.Period != 0 && len(restarts) > l.Intensity
}

// A charge is a failure that counts for the limit of a group, or several that count as one.
type charge struct {
	at    time.Time // the first death
	order *Service  // whose death that was
	exit  *LastExit // of that service
	ids   []string  // the services that failed
}

// count charges the group for what fails in this pass. alone has the course that each service would
// take by itself. Afterwards, the planner knows which services are parked, and what still counts.
func (p *planner) count(alone []course) (changed bool) {
	limit := p.g.Registry.Supervision.Limit
	for _, c := range p.charges(alone) {
		p.restarts = charged(p.restarts, c.at, limit.Period, p.seen.Now)
		if !limit.exceeded(p.restarts) {
			continue
		}

		changed = true
		if limit.OnIntensity == Escalate {
			p.begin(EndIntensity, "more than %s in %s, the last of %s: %s",
				counted(limit.Intensity, "failure"), inWords(limit.Period), c.order.ID, c.exit)
			return true
		}
		for _, id := range c.ids {
			p.parked[id] = limit.OnIntensity == Park
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
		if !p.isCause(c) || p.g.Registry.inSet(c.id) {
			continue
		}
		if e := p.lastExit(c); e != nil && e.charged() {
			all = append(all, charge{e.At, p.judged[c.id].was, e, []string{c.id}})
		}
	}

	slices.SortFunc(all, func(a, b charge) int {
		return cmp.Or(a.at.Compare(b.at), InOrder(a.order, b.order))
	})
	if !v.Strategy.together() || len(all) == 0 {
		return all
	}

	for _, c := range all[1:] {
		all[0].ids = append(all[0].ids, c.ids...)
	}
	return all[:1]
}

// lastExit returns how the service of c, which fails or has failed, has ended.
func (p *planner) lastExit(c course) *LastExit {
	if f, fails := stepOf[*failure](c); fails {
		return f.after.LastExit
	}

	s := *p.judged[c.id].was
	if _, settles := stepOf[settle](c); settles {
		s.settle(p.seen.Now)
	}
	return s.LastExit
}

// notBefore returns the time before which the group restarts no service whose last end was charged,
// or zero.
func (p *planner) notBefore(s *Service) time.Time {
	limit := p.g.Registry.Supervision.Limit
	if limit.OnIntensity != Delay || !limit.exceeded(p.restarts) || s.LastExit == nil ||
		!s.LastExit.charged() {
		return time.Time{}
	}
	return wire.Later(p.restarts[0], limit.Period)
}

// parkedReason is why a service is dead because of the intensity of its group.
const parkedReason = "intensity of the group"

// park gives a service up because of the intensity of its group, after stopping what a pass has
// started.
func (p *planner) park(j judgement) []step {
	if p.ours(j) && j.held(p.seen) {
		return then(doom{}, p.stop(j))
	}
	return []step{die{parkedReason}}
}

// A doom records that a service is dead once it is no longer held.
type doom struct{}

func (doom) take(_ *acting, s *Service) {
	s.StopFor = &StopFor{Reason: s.LastExit.Reason, Detail: s.LastExit.Detail, Then: ThenPark}
}

// then returns f with what follows the stop that it begins.
func (f *failure) then(next Then) *failure {
	doomed, after := *f, *f.after
	doomed.stopFor = f.stopFor.with(next)
	after.StopFor, doomed.after = doomed.stopFor, &after
	return &doomed
}

// charged returns times, in order, with one more at t: without those after now, and those more than
// period before the last one.
func charged(times []time.Time, t time.Time, period time.Duration, now time.Time) []time.Time {
	all := slices.DeleteFunc(append(slices.Clone(times), t),
		func(t time.Time) bool { return t.After(now) })
	slices.SortFunc(all, time.Time.Compare)
	if len(all) == 0 {
		return nil
	}

	from := all[len(all)-1].Add(-period)
	return slices.DeleteFunc(all, func(t time.Time) bool { return t.Before(from) })
}
