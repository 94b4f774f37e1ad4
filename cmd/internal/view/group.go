package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Group is a group to show, with an observation.
type Group struct {
	group.Group
	Seen    observe.Observation
	LogPath func(service string) string // nil if unknown
}

var groupColumns = []column{
	{title: "SERVICE", id: true}, {title: "STATE"}, {title: "PID", spare: true},
	{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "RESTARTS", short: "TRIES", spare: true},
	{title: "DEPENDS ON", sinks: true, below: "depends on"}, {title: "JUDGED NOW", short: "JUDGED"},
	{title: "NOTE", sinks: true},
}

// Group draws g: its orchestrator, and its services, each below one that it depends on. If only is
// not "", it draws only that service.
func (s Style) Group(g Group, only string) string {
	var out strings.Builder
	state := g.Orchestrated()
	fmt.Fprintf(&out, "%s: orchestrator %s", s.paint(strong, g.ID),
		s.paint(orchestratorTone(state), state))
	if last := g.LastPass(); last != "" {
		fmt.Fprintf(&out, ", last pass %s by %s", last, harmless.Text(g.Registry.Owner))
	}
	if n := g.Troubled(); n > 0 {
		fmt.Fprintf(&out, ", %s", s.paint(bad, fmt.Sprintf("%d in trouble", n)))
	}

	out.WriteByte('\n')

	services := g.Tree()
	if only != "" {
		services = []Service{g.judged(g.Service(only))}
	}

	var nodes []*node
	for _, service := range services {
		nodes = append(nodes, service.node())
	}
	if len(nodes) > 0 {
		out.WriteString("\n" + s.table(groupColumns, nodes))
	}

	separator := "\n"
	for _, service := range g.Services() {
		named := service.ID == only || only == "" && service.InTrouble()
		if log := service.Log(); named && log != "" {
			fmt.Fprintf(&out, "%s%s: log %s\n", separator, service.ID, harmless.Text(log))
			separator = ""
		}
	}

	return out.String()
}

func (s Service) node() *node {
	return &node{depth: s.Depth, name: "service " + s.ID, cells: []cell{
		{text: s.ID, tone: strong}, state(string(s.State)), {text: Number(s.PID)}, {text: s.Heard},
		{text: strconv.Itoa(s.RestartAttempts)},
		{text: strings.Join(s.Dependencies, ","), drawn: len(s.Dependencies) == 1 && s.Depth > 0},
		state(s.Verdict), {text: s.Note()},
	}}
}

// Troubled returns how many services of g are in trouble.
func (g Group) Troubled() (n int) {
	for _, s := range g.Services() {
		if s.InTrouble() {
			n++
		}
	}
	return n
}

// Running returns the number of services of g in state running.
func (g Group) Running() (n int) {
	for _, s := range g.Registry.Services {
		if s.State == group.StateRunning {
			n++
		}
	}
	return n
}

func orchestratorTone(state string) tone {
	if state == "running" {
		return good
	}
	return warn
}

// Orchestrated returns the state of the orchestrator, or that it is silent.
func (g Group) Orchestrated() string {
	heard, _ := g.OrchestratorHeard(g.Seen)
	switch {
	case g.Orchestrator.Heartbeat.IsZero():
		return "none"
	case heard || g.Orchestrator.State == group.OrchestratorStopped:
		return string(g.Orchestrator.State)
	}
	return "stale"
}

// LastPass returns how long ago the last pass over g was, or "" if there was none.
func (g Group) LastPass() string {
	_, age := g.OrchestratorHeard(g.Seen)
	if g.Orchestrator.Heartbeat.IsZero() {
		return ""
	}
	return Ago(age)
}
