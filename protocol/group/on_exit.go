package group

// An OnExit says what the keeper of a start does once its service has ended (spec §19.5).
type OnExit string

const (
	NothingOnExit OnExit = ""
	PassOnExit    OnExit = "pass" // it makes a pass over the group
)

// A Prompt is what asked for a pass, beside people and timers: the end of a start of a service of
// the group; or, if it is the zero value, that another group, which is a service of this one, has
// changed.
type Prompt struct{ Service, StartID string }

// heeds reports whether a pass by owner that p has asked for does anything (spec §19.5): it never
// takes over, nor goes on for an orchestrator that has left, and once another pass has seen the
// same end, it is not needed. A service that is being stopped needs one more pass when the last of
// its processes has ended.
func (g Group) heeds(p Prompt, owner string) bool {
	switch {
	case g.Registry.Owner != owner || g.Orchestrator.State.left():
		return false
	case p == Prompt{}:
		return true
	}

	s := g.Service(p.Service)
	return g.Registry.Supervision.OnExit == PassOnExit && s != nil && s.StartID == p.StartID &&
		(s.State == StateRunning || s.State == StateShuttingDown || !s.TermSentAt.IsZero())
}
