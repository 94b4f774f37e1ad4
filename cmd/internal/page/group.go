package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

func (w *writer) group(g Group) {
	w.open("p", "class", "facts")
	w.fact("orchestrator", g.Orchestrated())
	if _, age := g.OrchestratorHeard(g.Seen); !g.Orchestrator.Heartbeat.IsZero() {
		w.fact("last pass", view.Ago(age))
	}
	w.fact("owner", g.Registry.Owner)
	w.fact("revision", strconv.FormatInt(g.Registry.Revision, 10))
	w.fact("stale after", view.Span(g.Orchestrator.StalenessThreshold))
	w.close()
	if len(g.Registry.Services) > 0 {
		w.element("h3", "", "Supervisors")
		var items []item
		g.Each(func(r *protocol.Service, depth int) {
			items = append(items, item{depth, func() { w.registered(g, r) }})
		})
		w.tree(items)
	}
	w.timeline(groupLanes(g))
	if len(g.Alerts) > 0 {
		w.alerts(g.Alerts)
	}
	w.entries(groupEntries(g))
}

func (w *writer) registered(g Group, r *protocol.Service) {
	w.open("div", "class", "line")
	w.element("b", "id", r.ID)
	w.pill(string(r.State))
	if verdict := g.ServiceVerdict(r); verdict != "alive" && verdict != "-" {
		w.pill(verdict)
	}
	if r.PID != 0 {
		w.fact("pid", strconv.Itoa(r.PID))
	}
	if _, age := g.JudgeService(r, g.Seen); !r.LastHeartbeat.IsZero() {
		w.fact("heartbeat", view.Ago(age))
	}
	w.fact("restarts", restarts(r))
	if len(r.Dependencies) > 0 {
		w.fact("depends on", strings.Join(r.Dependencies, ", "))
	}
	w.close()
	w.list(history(g, r))
}

func restarts(r *protocol.Service) string {
	if r.StartInfo == nil {
		return strconv.Itoa(r.RestartAttempts)
	}
	return fmt.Sprintf("%d of %d", r.RestartAttempts, r.StartInfo.Policy.MaxAttempts)
}

// history says how r was started and how it ended.
func history(g Group, r *protocol.Service) (all []string) {
	if note := g.Note(r); note != "" && (r.LastExit == nil || note != r.LastExit.String()) {
		all = append(all, note)
	}
	if !r.StartedAt.IsZero() {
		text := "started " + view.Ago(g.Seen.Now.Sub(r.StartedAt))
		if r.Attempt > 0 {
			text += fmt.Sprintf(", as restart %d", r.Attempt)
		}
		all = append(all, text)
	}
	if e := r.LastExit; e != nil {
		all = append(all, fmt.Sprintf("last ended %s: %s", view.Ago(g.Seen.Now.Sub(e.At)), e))
	}
	if r.StartInfo != nil {
		all = append(all, "runs "+r.StartInfo.Command) // its arguments may be secrets, and pages get around
		if g.Log != nil {
			all = append(all, "log "+g.Log(r.ID))
		}
	}
	return all
}

// alerts writes the alerts, newest first.
func (w *writer) alerts(alerts []protocol.Alert) {
	w.element("h3", "", "Alerts")
	w.open("table")
	for i := len(alerts) - 1; i >= 0; i-- {
		a := alerts[i]
		w.open("tr")
		w.open("td", "class", "when")
		w.time(a.Timestamp)
		w.close()
		w.open("td")
		w.text(a.ServiceID + " ")
		w.element("b", alertMood(a.Type), strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(string(a.Type), "supervisor"), "orchestrator")))
		w.text(": " + a.Message)
		w.close()
		w.close()
	}
	w.close()
}

func alertMood(t protocol.AlertType) string {
	switch t {
	case protocol.AlertRestarted:
		return "good"
	case protocol.AlertBlocked, protocol.AlertRebooted, protocol.AlertTakeover:
		return "warn"
	}
	return "bad"
}
