package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

func groupSubject(g Group) subject {
	s := subject{
		ID: g.ID, State: g.Orchestrated(), Mood: mood(g.Orchestrated()),
		Headline: fmt.Sprintf("group of %s, %d running", count(len(g.Registry.Services), "service"),
			g.Running()),
		Facts:    groupFacts(g),
		Main:     tree{"Services", services(g)},
		Timeline: groupLanes(g).timeline(),
		Alerts:   slices.Clone(g.Alerts),
		Entries:  groupEntries(g),
	}

	slices.Reverse(s.Alerts)
	if n := g.Troubled(); n > 0 {
		s.Mood = "bad"
		s.Headline += fmt.Sprintf(", %d in trouble", n)
	}

	return s
}

func groupFacts(g Group) []fact {
	lastPass := ""
	if _, age := g.OrchestratorHeard(g.Seen); !g.Orchestrator.Heartbeat.IsZero() {
		lastPass = view.Ago(age)
	}
	return facts(
		"orchestrator", g.Orchestrated(),
		"last pass", lastPass,
		"owner", g.Registry.Owner,
		"revision", strconv.FormatInt(g.Registry.Revision, 10),
		"stale after", view.Span(g.Orchestrator.StalenessThreshold),
	)
}

func services(g Group) (lines []line) {
	g.Each(func(r *protocol.Service, depth int) {
		l := service(g, r)
		l.depth = depth
		lines = append(lines, l)
	})
	return nested(lines)
}

func service(g Group, r *protocol.Service) line {
	l := line{ID: r.ID, Pills: []string{string(r.State)}, Details: history(g, r)}
	if verdict := g.ServiceVerdict(r); verdict != "alive" && verdict != "-" {
		l.Pills = append(l.Pills, verdict)
	}

	heard := ""
	if _, age := g.JudgeService(r, g.Seen); !r.LastHeartbeat.IsZero() {
		heard = view.Ago(age)
	}

	l.Facts = facts(
		"pid", number(r.PID),
		"heartbeat", heard,
		"restarts", restarts(r),
		"depends on", strings.Join(r.Dependencies, ", "),
	)

	return l
}

func restarts(r *protocol.Service) string {
	if r.StartInfo == nil {
		return strconv.Itoa(r.RestartAttempts)
	}
	return fmt.Sprintf("%d of %d", r.RestartAttempts, r.StartInfo.Policy.MaxAttempts)
}

// history returns how r was started and how it ended.
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
		// its arguments may contain secrets, and pages are passed around
		all = append(all, "runs "+r.StartInfo.Command)
		if g.Log != nil {
			all = append(all, "log "+g.Log(r.ID))
		}
	}

	return all
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

// alertWord returns a short word for the type of an alert.
func alertWord(t protocol.AlertType) string {
	word := strings.TrimPrefix(strings.TrimPrefix(string(t), "supervisor"), "orchestrator")
	return strings.ToLower(word)
}
