package group

import "github.com/dpl-project/dpl/protocol/observe"

// A Group is the content of the two files of a group (groups.md §9). It is a value: verbs return a
// changed copy.
type Group struct {
	ID           string
	Orchestrator Orchestrator
	Registry     Registry

	effects Effects
	ends    map[string]Ending // see WithEnds; nil: it was not called
}

// Effects are what an edit of a group asks of the file system. They belong to the edit that
// returned the group.
type Effects struct {
	// Verb is the verb that has asked.
	Verb string
	// BeatOnly: only a heartbeat changed, so losing the edit in a power cut does no harm.
	BeatOnly bool
	// Cleared: the old registry must be copied to the archive before the commit.
	Cleared bool
}

// Effects returns the effects of the verb that returned g.
func (g Group) Effects() Effects { return g.effects }

// Create returns a group without services and passes.
func Create(id string) Group {
	return Group{ID: id, Orchestrator: newOrchestrator(id), Registry: newRegistry()}
}

// Service returns the service id, or nil. It must not be changed.
func (g Group) Service(id string) *Service {
	if i := g.Registry.index(id); i >= 0 {
		return &g.Registry.Services[i]
	}
	return nil
}

// Lines returns what has happened in the group after the revision since of its registry, as
// observe.Lines.
func (g Group) Lines(since int64) []observe.Line {
	return observe.Lines("groupId", g.ID, g.Registry.Events, nil, since)
}
