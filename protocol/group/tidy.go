package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

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

// needed reports whether another service depends directly on id.
func (r Registry) needed(id string) bool {
	return slices.ContainsFunc(r.Services, func(other Service) bool {
		return other.ID != id && slices.Contains(other.AllDependencies(), id)
	})
}
