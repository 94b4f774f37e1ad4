package explain

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Steps returns what a pass does about a service, without full stops.
func Steps(steps []plan.Step) []string {
	all := []string{}
	for _, s := range steps {
		all = append(all, step(s))
	}
	return all
}

func step(s plan.Step) (text string) {
	switch s.Kind {
	case plan.StepChange:
		text = change(s.From, s.To, s.Reason)
	case plan.StepStart:
		text = fmt.Sprintf("start it, attempt %d, because of: %s", s.Attempt, s.Reason)
	case plan.StepSignal:
		text = fmt.Sprintf("send %s to its %s, %d", s.Signal, s.Target, s.PID)
	case plan.StepBeginGroup:
		text = "let the group " + s.Group + " begin"
	case plan.StepEndGroup:
		text = "let the group " + s.Group + " end"
	case plan.StepBlock:
		text = "not start it, blocked by " + s.Reason
	}

	switch s.If {
	case plan.IfCheckPasses:
		text += ", if its health check succeeds"
	case plan.IfCheckFails:
		text += ", if its health check fails"
	}
	return text
}

// change returns a change of the state of a service.
func change(from, to, reason string) string {
	text := fmt.Sprintf("%s → %s", cmp.Or(from, "new"), cmp.Or(to, "removed"))
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// history returns the last changes of the service id, as far as the registry has them.
func history(g group.Group, id string, seen observe.Observation) (all []string) {
	const most = 5
	for _, e := range g.Registry.Events {
		if e.SupervisorID == id && e.Type == observe.SupervisorState {
			all = append(all, fmt.Sprintf("%s: %s, by %s.", At(e.At, seen),
				change(e.From, e.To, e.Reason), cmp.Or(e.By, "-")))
		}
	}
	return all[max(len(all)-most, 0):]
}

// At returns the time t, and how far it is from now.
func At(t time.Time, seen observe.Observation) string {
	text, ago := t.UTC().Format(time.RFC3339), seen.Now.Sub(t).Round(time.Millisecond)
	if ago < 0 {
		return fmt.Sprintf("%s, in %v", text, -ago)
	}
	return fmt.Sprintf("%s, %v ago", text, ago)
}
