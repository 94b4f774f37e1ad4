package model

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// A Service is a service of a group, as judged now. Its verdict is "-" if it should not be alive.
type Service struct {
	*group.Service
	Judgement
	Group *Group
	Depth int // the number of services above it in the tree
}

// Services returns the services of g in the order of its file, with a depth of 0.
func (g Group) Services() (all []Service) {
	for i := range g.Registry.Services {
		all = append(all, g.Judged(&g.Registry.Services[i]))
	}
	return all
}

// Judged returns s, a service of g, as judged now.
func (g Group) Judged(s *group.Service) Service {
	j := judge(s.Vitals, g.Orchestrator.StalenessThreshold, true, g.Seen)
	if settled := g.Settled(s.ID); settled != "" {
		j.Verdict = string(settled)
	}
	j.GraceUntil = g.WindowOf(s, g.Seen)
	switch silent := !j.Heard; {
	case s.State.Final(),
		silent && j.Verdict == "alive", silent && j.Dead() && s.PID == 0:
		j.Verdict = "-"
	}

	return Service{Service: s, Judgement: j, Group: &g}
}

// Tree returns the services of g, in their order (spec §22.1), except that dependents come after
// the first service they depend on, one level deeper.
func (g Group) Tree() (tree []Service) {
	below := make(map[string][]Service)
	for _, s := range g.Services() {
		parent := g.parent(s.Service)
		below[parent] = append(below[parent], s)
	}

	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		children := below[parent]
		slices.SortFunc(children, func(a, b Service) int { return group.InOrder(a.Service, b.Service) })
		for _, s := range children {
			s.Depth = depth
			tree = append(tree, s)
			add(s.ID, depth+1)
		}
	}

	add("", 0)
	return tree
}

// parent returns the first registered service that s depends on, or "" if there is none or that
// path is a cycle, which only a manually edited file can have.
func (g Group) parent(s *group.Service) string {
	first := g.first(s)
	for above, steps := first, 0; above != ""; steps++ {
		if steps > len(g.Registry.Services) {
			return ""
		}
		above = g.first(g.Service(above))
	}
	return first
}

func (g Group) first(s *group.Service) string {
	for _, d := range slices.Concat(s.Dependencies, s.DependenciesCompleted) {
		if g.Service(d) != nil {
			return d
		}
	}
	return ""
}

// Budget returns the limits of what s may spend in one start.
func (s Service) Budget() policy.Amounts {
	if s.StartInfo == nil {
		return nil
	}
	return s.StartInfo.Budget.Limits
}

// Completing reports whether s has ended as it may, and the next pass says that it has completed.
func (s Service) Completing() bool { return s.Group.Completing(s.Service, s.Group.Seen) }

// InTrouble reports whether s should run and does not, is blocked from starting, or has a health
// check that cannot be run.
func (s Service) InTrouble() bool {
	return s.Service.InTrouble(s.Verdict == "alive" || s.Completing(), s.Group.Seen.Now)
}

// Journal returns what finds the output of s in the journal, or "" if it goes to a file.
func (s Service) Journal() string {
	if s.StartInfo == nil || s.Group.Registry.Supervision.Log != group.LogJournal {
		return ""
	}
	return group.JournalName(s.Group.ID, s.ID)
}

// Log returns the path of the log of s, or "" if it has none or the path is unknown.
func (s Service) Log() string {
	if s.StartInfo == nil || s.Group.LogPath == nil || s.Journal() != "" {
		return ""
	}
	return s.Group.LogPath(s.ID)
}
