package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
)

var groupColumns = []column{
	{title: "SERVICE", id: true}, {title: "STATE"}, {title: "PID", spare: true},
	{title: "LAST HEARTBEAT", short: "BEAT"}, {title: "RESTARTS", short: "TRIES", spare: true},
	{title: "DEPENDS ON", sinks: true, below: "depends on"}, {title: "JUDGED NOW", short: "JUDGED"},
	{title: "NOTE", sinks: true},
}

// Group draws g: its orchestrator, and its services, each below one that it depends on. If only is
// not "", it draws only that service.
func (s Style) Group(g model.Group, only string) string {
	var out strings.Builder
	s.groupHead(&out, g)
	services := g.Tree()
	if only != "" {
		services = []model.Service{g.Judged(g.Service(only))}
	}

	var nodes []*node
	for _, service := range services {
		nodes = append(nodes, s.service(service))
	}
	if len(nodes) > 0 {
		out.WriteString("\n" + s.table(groupColumns, nodes))
	}

	separator := "\n"
	for _, service := range g.Services() {
		named := service.ID == only || only == "" && service.InTrouble()
		log := harmless.Text(service.Log())
		if journal := service.Journal(); journal != "" {
			log = "journalctl -t " + journal
		}
		if named && log != "" {
			fmt.Fprintf(&out, "%s%s: log %s\n", separator, service.ID, log)
			separator = ""
		}
	}

	return out.String()
}

// groupHead writes what there is to say of g as a whole.
func (s Style) groupHead(out *strings.Builder, g model.Group) {
	fmt.Fprintf(out, "%s: ", s.paint(strong, g.ID))
	if parent := g.Registry.Supervision.Parent; parent.Group != "" {
		fmt.Fprintf(out, "%s in %s, ", parent.Service, parent.Group)
	}
	if strategy := g.Registry.Supervision.Strategy; strategy != "" {
		fmt.Fprintf(out, "%s, ", strategy)
	}
	if window := g.Registry.Supervision.Window; window != 0 {
		fmt.Fprintf(out, "at most %d at once, ", window)
	}
	if g.Registry.Supervision.OnExit == group.PassOnExit {
		out.WriteString("--on-exit pass, ")
	}

	state := g.Orchestrated()
	fmt.Fprintf(out, "orchestrator %s", s.paint(orchestratorTone(state), state))
	if last := explain.LastPass(g); last != "" {
		fmt.Fprintf(out, ", last pass %s by %s", last, harmless.Text(g.Registry.Owner))
	}
	if end := g.Registry.Supervision.End; end.State != group.GroupRunning {
		fmt.Fprintf(out, ", %s: %s", s.paint(bad, string(end.State)), harmless.Text(end.String()))
	}
	if n := g.Troubled(); n > 0 {
		fmt.Fprintf(out, ", %s", s.paint(bad, fmt.Sprintf("%d in trouble", n)))
	}
	if v := g.Registry.Supervision; v.Limit.Period != 0 {
		fmt.Fprintf(out, ", %d of %d failures in %s", len(v.Restarts), v.Limit.Intensity,
			cli.Brief(v.Limit.Period))
	}
	out.WriteByte('\n')

	if set := explain.Set(g); set != "" {
		for _, text := range s.note(set, s.Width-2) {
			out.WriteString("  " + s.paint(warn, text) + "\n")
		}
	}
}

// service returns the line of v.
func (s Style) service(v model.Service) *node {
	n := &node{depth: v.Depth, name: "service " + v.ID, cells: []cell{
		{text: v.ID, tone: strong}, state(string(v.State)), {text: Number(v.PID)}, {text: explain.Heard(v.Judgement)},
		{text: strconv.Itoa(v.RestartAttempts)},
		{text: strings.Join(explain.Needs(v), ","),
			drawn: len(v.Dependencies) == 1 && len(explain.Needs(v)) == 1 && v.Depth > 0},
		state(explain.Verdict(v)), {text: explain.Note(v)},
	}}

	n.details = append(n.details, s.Limits(v)...)
	return n
}

func orchestratorTone(state string) tone {
	if state == "running" {
		return good
	}
	return warn
}
