package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Remove returns g without a service (groups.md §10.2). It returns ErrNoService, ErrStillRunning,
// and ErrHasDependents if another service depends on it.
func (g Group) Remove(service, by string, seen observe.Observation) (Group, error) {
	d := g.Begin("remove", by, seen)
	s := d.Service(service)
	switch {
	case s == nil:
		return g, ErrNoService
	case !d.removable(s):
		return g, ErrStillRunning
	}

	if g.Registry.needed(service) {
		return g, ErrHasDependents
	}

	d.Remove(s)
	return d.end()
}

// removable reports whether nothing of s is left that must be stopped before its entry is removed.
func (d *Draft) removable(s *Service) bool {
	return !s.Held(d.Seen) && (s.State.Final() || !d.Before.heard(s, d.Seen))
}

// Remove removes the entry of s, which is not valid afterwards.
func (d *Draft) Remove(s *Service) {
	id := s.ID
	d.event(id, string(s.State), "")
	d.Group.Registry.Services = slices.DeleteFunc(d.Services(),
		func(other Service) bool { return other.ID == id })
}

// DefaultKeepEnded is how long the entry of a temporary service is kept once it has ended.
const DefaultKeepEnded = time.Hour

// Tidy returns g without the services that ended at least their KeepEnded ago, and their ids, in
// the order of removal (supervision.md §30.1). A service on which another depends is kept. It
// returns ErrExhausted.
func (g Group) Tidy(by string, seen observe.Observation) (after Group, removed []string,
	err error) {
	d := g.Begin("tidy", by, seen)
	for found := true; found; {
		found = false
		for _, id := range d.Group.Registry.Ordered() {
			if s := d.Service(id); d.keptLongEnough(s) {
				d.Remove(s)
				removed, found = append(removed, id), true
			}
		}
	}

	if after, err = d.end(); err != nil {
		return g, nil, err
	}

	return after, removed, nil
}

// keptLongEnough reports whether s has ended long ago, and nothing needs its entry any more.
func (d *Draft) keptLongEnough(s *Service) bool {
	keep := s.KeepEnded
	if keep == 0 && s.Restart == policy.Temporary {
		keep = DefaultKeepEnded
	}
	if keep == 0 || !s.Over() || s.LastExit == nil || d.Seen.Now.Sub(s.LastExit.At) < keep {
		return false
	}

	return d.removable(s) && !d.Group.Registry.needed(s.ID)
}
