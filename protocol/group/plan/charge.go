package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// A charge is a failure that counts for the limit of a group, or several that count as one.
type charge struct {
	at      time.Time      // the first death
	service *group.Service // whose death that was
	exit    *policy.Exit   // of that service
	ids     []string       // the services that failed
}

// charge returns the premises of o after the group is charged for what fails in this pass: which
// services are parked, and whether the group ends. It also reports whether the limit of the group
// is exceeded. o has the course that each service would take by itself.
func (o outlook) charge() (given premises, exceeded bool) {
	given = o.premises
	given.parked = make(map[string]bool)
	limit := o.group.Registry.Supervision.Limit
	for _, c := range o.newCharges() {
		given.charges = policy.Charge(given.charges, c.at, limit.Period, o.seen.Now)
		if !limit.Exceeded(given.charges) {
			continue
		}

		exceeded = true
		if limit.OnIntensity == policy.Escalate {
			given.end = ending(policy.EndIntensity, "more than %s in %s, the last of %s: %s",
				policy.Counted(limit.Intensity, "failure"), policy.InWords(limit.Period),
				c.service.ID, c.exit)
			return given, true
		}
		for _, id := range c.ids {
			given.parked[id] = limit.OnIntensity == policy.Park
		}
	}
	return given, exceeded
}

// newCharges returns the charges of a pass in order of their times. What restarts together counts
// once. A failure of a service that waits to start with its set has been counted.
func (o outlook) newCharges() (all []charge) {
	v := &o.group.Registry.Supervision
	if v.Limit.Period == 0 {
		return nil
	}

	for _, c := range o.courses {
		if !o.isCause(c) || o.group.Registry.InSet(c.id) {
			continue
		}
		if e := o.lastExit(c); e != nil && e.Charged() {
			all = append(all, charge{e.At, o.judged[c.id].Service, e, []string{c.id}})
		}
	}

	// Passes at other times must charge in the same order, so that they park the same services.
	slices.SortFunc(all, func(a, b charge) int {
		return cmp.Or(a.at.Compare(b.at), group.InOrder(a.service, b.service))
	})
	if !v.Strategy.Together() || len(all) == 0 {
		return all
	}

	// One restart of the set follows from all of them, so they count as one failure.
	for _, c := range all[1:] {
		all[0].ids = append(all[0].ids, c.ids...)
	}
	return all[:1]
}

// lastExit returns how the service of c, which fails or has failed, has ended.
func (o outlook) lastExit(c course) *policy.Exit {
	if f, fails := stepOf[fail](c); fails {
		return f.After.LastExit
	}

	s := *o.judged[c.id].Service
	if _, settles := stepOf[completeExit](c); settles {
		s.CompleteExit(o.seen.Now)
	}
	return s.LastExit
}
