package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Remove returns g without a service (spec §10.2). It returns ErrNoService, ErrStillRunning, and
// ErrHasDependents if another service depends on it.
func (g Group) Remove(service, by string, seen observe.Observation) (Group, error) {
	e := g.Begin("remove", by, seen)
	s := e.Service(service)
	switch {
	case s == nil:
		return g, ErrNoService
	case !e.removable(s):
		return g, ErrStillRunning
	}

	if g.Registry.needed(service) {
		return g, ErrHasDependents
	}

	e.Remove(s)
	return e.end()
}

// removable reports whether nothing of s is left that must be stopped before its entry is removed.
func (e *Draft) removable(s *Service) bool {
	return !s.Held(e.Seen) && (s.State.Final() || !e.Before.heard(s, e.Seen))
}

// Remove removes the entry of s, which is not valid afterwards.
func (e *Draft) Remove(s *Service) {
	id := s.ID
	e.event(id, string(s.State), "")
	e.Group.Registry.Services = slices.DeleteFunc(e.Services(),
		func(other Service) bool { return other.ID == id })
}

// DefaultKeepEnded is how long the entry of a temporary service is kept once it has ended.
const DefaultKeepEnded = time.Hour

// Tidy returns g without the services that ended at least their KeepEnded ago, and their ids, in
// the order of removal (spec §30.1). A service on which another depends is kept. It returns
// ErrExhausted.
func (g Group) Tidy(by string, seen observe.Observation) (after Group, removed []string,
	err error) {
	e := g.Begin("tidy", by, seen)
	for found := true; found; {
		found = false
		for _, id := range e.Group.Registry.Ordered() {
			if s := e.Service(id); e.keptLongEnough(s) {
				e.Remove(s)
				removed, found = append(removed, id), true
			}
		}
	}

	if after, err = e.end(); err != nil {
		return g, nil, err
	}

	return after, removed, nil
}

// keptLongEnough reports whether s has ended long ago, and nothing needs its entry any more.
func (e *Draft) keptLongEnough(s *Service) bool {
	keep := s.KeepEnded
	if keep == 0 && s.Restart == policy.Temporary {
		keep = DefaultKeepEnded
	}
	if keep == 0 || !s.Over() || s.LastExit == nil || e.Seen.Now.Sub(s.LastExit.At) < keep {
		return false
	}

	return e.removable(s) && !e.Group.Registry.needed(s.ID)
}
