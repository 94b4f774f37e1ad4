package explain

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

// LastPass returns how long ago the last pass over g was, or "" if there was none.
func LastPass(g model.Group) string {
	_, age := g.OrchestratorHeard(g.Seen)
	if g.Orchestrator.Heartbeat.IsZero() {
		return ""
	}
	return Ago(age)
}

// Set returns what the services wait for that restart together, or "" if there are none.
func Set(g model.Group) string {
	open := plan.OpenSetOf(g.Group, g.Seen)
	if len(open.Services) == 0 {
		return ""
	}

	text := "restart together: " + Some(open.Services)
	if len(open.Causes) > 0 {
		text = fmt.Sprintf("restart together, because of %s: %s", Some(open.Causes),
			Some(open.Services))
	}
	switch wait := open.Due.Sub(g.Seen.Now); {
	case len(open.Held) > 0:
		text += "; first " + Some(open.Held) + " must end"
	case wait > 0:
		text += "; in " + Span(wait)
	}
	return text
}

// Some returns the first names, and how many there are besides.
func Some(names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
