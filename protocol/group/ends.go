package group

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// of reports whether x, the record of the start of s, is about its current process. One that cannot
// be understood counts as such.
func (x ExitRecord) of(s *Service) bool {
	return x.Phase == "" || x.ServiceID == s.ID && x.StartID == s.StartID && x.PID == s.PID &&
		observe.Identity(x.PID, x.Process).Is(s.Identity())
}

// endPatience is how long a pass awaits the record of an end, once it has found the process gone
// (supervision.md §19.3).
const endPatience = 10 * time.Second

// A foundRecord is what an observer finds of the exit record of a start, and of its process before
// that: a keeper that is gone by then has said all that it will ever say.
type foundRecord struct {
	ExitRecord
	found bool             // there is one, about the current process of the service
	gone  observe.Evidence // that the process is
	kept  bool             // its keeper may still be there
}

// end returns what r says of the end, or nil.
func (r foundRecord) end() *policy.Exit {
	if r.Phase != PhaseEnded {
		return nil
	}
	return &r.End
}

// exitRecord asks look for the record of s, unless s has none, or none that could count.
func (s *Service) exitRecord(look ExitLookup, seen observe.Observation) (r foundRecord) {
	if s.Keeper == (observe.Process{}) || s.State.Final() || s.IsGroup() || look == nil ||
		seen.Checks(s.Vitals) && !s.Starting {
		return r
	}
	r.gone, r.kept = seen.Gone(s.Vitals), s.keeperMayRun(seen)
	x, there := look(s.ID, s.StartID)
	r.ExitRecord, r.found = x, there && x.of(s)
	return r
}

// learnEnd takes r, the record of s, into s.
func (s *Service) learnEnd(r foundRecord, seen observe.Observation) Ending {
	switch {
	case r.Unreadable:
		return Ending{awaited: true, unread: true}
	case r.Phase == PhaseEnded && (r.Complete || r.gone != "" && !r.kept) && !seen.Checks(s.Vitals):
		if !s.exitRecorded() {
			s.addEnd(r.End)
		}
		s.Starting = false
		reason := cmp.Or(observe.Evidence(r.End.Reason), observe.Exited)
		if r.KeeperSignalled && !seen.SameBoot(r.Process) {
			reason = observe.Rebooted // the host ended it when it shut down
		}
		return Ending{Settled: reason, Consumed: r.StartID}
	case r.gone == "":
		return Ending{unbegun: r.Phase == PhaseReserved}
	case r.gone == observe.Exited && s.awaits(r.kept, seen):
		return Ending{awaited: true, finishing: r.end()}
	case r.Phase != PhaseReserved:
		s.Starting = false // it has begun, so the start was not lost
	}

	return Ending{}
}

// awaits reports whether the record of s, which is gone, may still be completed.
func (s *Service) awaits(kept bool, seen observe.Observation) bool {
	if !kept || s.GoneSince.IsZero() {
		return kept
	}
	patience := endPatience
	if s.StartInfo != nil && s.StartInfo.Finish != nil {
		patience += cmp.Or(s.StartInfo.FinishTimeout, DefaultFinishTimeout)
	}
	age := seen.Age(s.GoneSince, s.GoneBeat)
	return age >= 0 && age < patience
}

// keeperMayRun reports whether the keeper of s may be there.
func (s *Service) keeperMayRun(seen observe.Observation) bool {
	return seen.CanCheck(s.Keeper) && seen.Gone(observe.Vitals{
		PID: s.Keeper.PID, Process: s.Keeper}) == ""
}

// addEnd adds what the record says of the end to what was reported of it.
func (s *Service) addEnd(end policy.Exit) {
	if s.Ended != nil {
		known := *s.Ended
		known.OOMKilled, known.CPU, known.MaxRSS = end.OOMKilled, end.CPU, end.MaxRSS
		known.FinishStatus = end.FinishStatus
		if known.SameUse(*s.Ended) {
			return
		}
		end = known
	}
	s.Ended = &end
}

// LearnEnds takes what the records say about the services into them, before they are judged
// (§19.3).
func (d *Draft) LearnEnds(look ExitLookup) map[string]Ending {
	found := make(map[string]Ending)
	for i := range d.Group.Registry.Services {
		d.learnEndOf(i, look, found)
	}
	return found
}

// learnEndOf takes what the record of the service at i says into it, and adds it to found.
func (d *Draft) learnEndOf(i int, look ExitLookup, found map[string]Ending) {
	if d.Group.Registry.Services[i].LeftAlone(d.Seen.Now) {
		return // its record stays until then
	}
	if r := d.Group.Registry.Services[i].exitRecord(look, d.Seen); r.found {
		s := &d.Services()[i]
		found[s.ID] = s.learnEnd(r, d.Seen)
	}
}

// takeEnds does about the running services among ids, nil for all, whose processes have ended what
// a pass does first: they fail (groups.md §10.4). It leaves to the next pass what follows from
// that.
func (d *Draft) takeEnds(look ExitLookup, ids []string) {
	d.Seen.Survived = AskedOnce(d.Seen.Survived)
	ends := make(map[string]Ending)
	d.Group.ends = ends
	for _, id := range d.Group.Registry.OrderedIf(func(s *Service) bool {
		return s.State == StateRunning && !s.IsGroup() && !s.LeftAlone(d.Seen.Now) &&
			(ids == nil || slices.Contains(ids, s.ID))
	}) {
		i := d.Group.Registry.index(id)
		d.learnEndOf(i, look, ends)
		j := d.Group.Judge(&d.Group.Registry.Services[i], ends[id], d.Seen)
		if !j.Gone || j.Awaited {
			continue
		}

		// What it has used may be why it fails.
		d.Measure(i)
		j.Service = &d.Group.Registry.Services[i]
		if f := j.Failure(d.Seen, false); f != nil {
			d.Fail(d.Service(id), f)
		}
	}
}

// mayRun reports whether s is held or heard, or its keeper has yet to say how it ended.
func (d *Draft) mayRun(s *Service) bool {
	return s.Held(d.Seen) || d.Group.heard(s, d.Seen) || d.Group.ends[s.ID].awaited
}

// mayComplete reports whether s has completed, or will, or has ended and is not permanent, and the
// next pass finds out how.
func (d *Draft) mayComplete(s *Service) bool {
	return s.State == StateCompleted || s.DidItsWork() ||
		s.State == StateRunning && s.Restart != policy.Permanent && d.Group.ends[s.ID].awaited
}

// WithEnds returns g as its exit records show it to an observer, until a pass takes them in
// (§19.6): what is settled counts whenever its services are judged. missing reports whether a
// process and its record are gone: a pass may just have taken it in, so g may have changed.
func (g Group) WithEnds(look ExitLookup, seen observe.Observation) (_ Group, missing bool) {
	before := g.Registry.Services
	g.ends = make(map[string]Ending)
	for i := range before {
		r := before[i].exitRecord(look, seen)
		missing = missing || r.gone != "" && !r.found
		if !r.found {
			continue
		}
		if len(g.ends) == 0 {
			g.Registry.Services = slices.Clone(before)
		}
		s := &g.Registry.Services[i]
		g.ends[s.ID] = s.learnEnd(r, seen)
	}
	return g, missing
}

// Settled returns why the service id has ended according to WithEnds, or "".
func (g Group) Settled(id string) observe.Evidence { return g.ends[id].Settled }

// Completing reports whether s has ended according to WithEnds, and may end so: a later pass says
// that it has completed, once its finish command and what it has left behind have ended.
func (g Group) Completing(s *Service, seen observe.Observation) bool {
	x, was := g.ends[s.ID], *s
	switch {
	case g.ends == nil:
		return false
	case x.finishing != nil:
		was.addEnd(*x.finishing)
		x.Settled = observe.Exited
	case x.Settled == "":
		return s.DidItsWork()
	}
	j := g.Judge(&was, x, seen)
	return s.DidItsWork() || j.Failed() && j.FailEnded(seen, false).After.Completes()
}

// Denies reports whether x says that the process of s has ended, and the observer sees it alive.
// Then x does not count (§19.3): the machine was set back to an earlier state, but not the
// ledger.
func (s *Service) Denies(x ExitRecord, seen observe.Observation) bool {
	return x.Phase == PhaseEnded && x.of(s) && seen.Checks(s.Vitals)
}

// Writing reports whether the keeper of s, which is gone, may be about to complete x, the record of
// its start. While it waits for the finish command, that may take long.
func (s *Service) Writing(x ExitRecord, seen observe.Observation) bool {
	return !x.Complete && x.End.FinishStatus != policy.FinishUnknown &&
		seen.Gone(s.Vitals) == observe.Exited && s.keeperMayRun(seen)
}
