package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// A Group is a group to draw, with an observation.
type Group struct {
	protocol.Group
	Seen protocol.Observation
	Log  func(service string) string // the path of a service's log; nil if unknown
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
	if _, age := g.OrchestratorHeard(g.Seen); !g.Orchestrator.Heartbeat.IsZero() {
		fmt.Fprintf(&out, ", last pass %s by %s", Ago(age), Clean(g.Registry.Owner))
	}
	if n := g.Troubled(); n > 0 {
		fmt.Fprintf(&out, ", %s", s.paint(bad, fmt.Sprintf("%d in trouble", n)))
	}

	out.WriteByte('\n')

	roots := g.roots()
	if only != "" {
		roots = []*node{g.node(g.Service(only), false)}
	}

	if len(roots) > 0 {
		out.WriteByte('\n')
		s.table(&out, groupColumns, roots)
	}

	g.logs(&out, only)

	return out.String()
}

// logs names the logs of the services in trouble, or of the only service.
func (g Group) logs(out *strings.Builder, only string) {
	separator := "\n"
	for i := range g.Registry.Services {
		r := &g.Registry.Services[i]
		if r.StartInfo == nil || g.Log == nil || only != "" && r.ID != only || only == "" &&
			!g.InTrouble(r) {
			continue
		}
		fmt.Fprintf(out, "%s%s: log %s\n", separator, r.ID, Clean(g.Log(r.ID)))
		separator = ""
	}
}

// Troubled returns how many services of g are in trouble.
func (g Group) Troubled() (n int) {
	for i := range g.Registry.Services {
		if g.InTrouble(&g.Registry.Services[i]) {
			n++
		}
	}
	return n
}

// InTrouble reports whether r should run and does not, or is blocked from starting.
func (g Group) InTrouble(r *protocol.Service) bool {
	switch r.State {
	case protocol.StateFailed, protocol.StateScheduled, protocol.StateDead:
		return true
	case protocol.StateRunning:
		return g.ServiceVerdict(r) != "alive"
	}
	return r.BlockedBy != ""
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
	case heard || g.Orchestrator.State == protocol.OrchestratorStopped:
		return string(g.Orchestrator.State)
	}
	return "stale"
}

// roots returns the services that depend on no registered service, with their dependents below
// them.
func (g Group) roots() (roots []*node) {
	var path []*node
	g.Each(func(r *protocol.Service, depth int) {
		n := g.node(r, depth > 0)
		if depth == 0 {
			roots = append(roots, n)
		} else {
			path[depth-1].children = append(path[depth-1].children, n)
		}
		path = append(path[:depth], n)
	})

	return roots
}

// Each calls do for each service, sorted by id, except that dependents come after the first service
// they depend on, one level deeper.
func (g Group) Each(do func(r *protocol.Service, depth int)) {
	below := make(map[string][]*protocol.Service)
	for i := range g.Registry.Services {
		r := &g.Registry.Services[i]
		below[g.parent(r)] = append(below[g.parent(r)], r)
	}

	var visit func(parent string, depth int)
	visit = func(parent string, depth int) {
		children := below[parent]
		slices.SortFunc(children,
			func(a, b *protocol.Service) int { return cmp.Compare(a.ID, b.ID) })
		for _, r := range children {
			do(r, depth)
			visit(r.ID, depth+1)
		}
	}

	visit("", 0)
}

// parent returns the first registered service that r depends on, or "" if there is none or that
// path is a cycle, which only a manually edited file can have.
func (g Group) parent(r *protocol.Service) string {
	first := g.first(r)
	for above, steps := first, 0; above != ""; steps++ {
		if steps > len(g.Registry.Services) {
			return ""
		}
		above = g.first(g.Service(above))
	}
	return first
}

func (g Group) first(r *protocol.Service) string {
	for _, d := range r.Dependencies {
		if g.Service(d) != nil {
			return d
		}
	}
	return ""
}

func (g Group) node(r *protocol.Service, drawn bool) *node {
	age := "-"
	if _, a := g.JudgeService(r, g.Seen); !r.LastHeartbeat.IsZero() {
		age = Ago(a)
	}
	return &node{name: "service " + r.ID, cells: []cell{
		{text: r.ID, tone: strong}, state(string(r.State)), {text: pid(r.PID)}, {text: age},
		{text: strconv.Itoa(r.RestartAttempts)},
		{text: strings.Join(r.Dependencies, ","), drawn: len(r.Dependencies) == 1 && drawn},
		state(g.ServiceVerdict(r)), {text: g.Note(r)},
	}}
}

// ServiceVerdict returns "alive", "stopped" if its process is stopped, the evidence that it is
// dead, or "-" if it should not be alive.
func (g Group) ServiceVerdict(r *protocol.Service) string {
	evidence, _ := g.JudgeService(r, g.Seen)
	switch {
	case r.State == protocol.StateDead || r.State == protocol.StateStopped:
	case evidence != "" && (r.PID != 0 || !r.LastHeartbeat.IsZero()):
		return string(evidence)
	case g.Seen.Stopped(r.PID, r.Process):
		return "stopped"
	case !r.LastHeartbeat.IsZero():
		return "alive"
	}

	return "-"
}

// Note returns what will happen to r, what has happened, and what the reader can do about it, or
// "".
func (g Group) Note(r *protocol.Service) string {
	var all []string
	if r.StartAgain {
		all = append(all, "restarting")
	}
	if r.BlockedBy != "" {
		all = append(all, "blocked by "+r.BlockedBy)
	}
	if !r.TermSentAt.IsZero() {
		all = append(all, "asked to end "+Ago(r.TermAge(g.Seen)))
	}
	if len(all) > 0 {
		return strings.Join(all, ", ")
	}

	if r.LastExit != nil && r.State != protocol.StateRunning {
		all = append(all, r.LastExit.String())
	}

	switch r.State {
	case protocol.StateRunning:
		all = append(all, g.runningNote(r)...)
	case protocol.StateScheduled:
		wait := max(r.NextAttemptAt.Sub(g.Seen.Now), time.Duration(0))
		all = append(all, "restart in "+wait.String())
	case protocol.StateDead, protocol.StateStopped:
		if r.StartInfo != nil {
			all = append(all, "dpl-restart starts it")
		}
	}

	return strings.Join(all, ", ")
}

func (g Group) runningNote(r *protocol.Service) (all []string) {
	_, age := g.JudgeService(r, g.Seen)
	if window := Window(age, g.WindowOf(r, g.Seen)); window != "" {
		all = append(all, window)
	}
	if said := r.Notice.String(); said != "" {
		all = append(all, said)
	}
	if r.Outdated() {
		all = append(all, "changed since it was started: dpl-restart")
	}
	return all
}
