package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

func groupSubject(g Group) subject {
	s := subject{
		ID: g.ID, State: g.Orchestrated(), Mood: mood(g.Orchestrated()),
		Headline: fmt.Sprintf("group of %s, %d running", explain.Plural(len(g.Registry.Services), "service"),
			g.Running()),
		Facts:    groupFacts(g),
		Main:     serviceTree(g),
		Timeline: groupLanes(g).timeline(),
		Alerts:   slices.Clone(g.Alerts),
		Entries:  entriesOf(eventEntries(g.Registry.Events)),
	}

	slices.Reverse(s.Alerts)
	if n := g.Troubled(); n > 0 {
		s.Mood = "bad"
		s.Headline += fmt.Sprintf(", %d in trouble", n)
	}
	s.kind = kindOf(g.Registry.Supervision.End.State == group.GroupEnded)

	return s
}

func groupFacts(g Group) []fact {
	return facts(
		"orchestrator", g.Orchestrated(),
		"last pass", explain.LastPass(g.Group),
		"owner", g.Registry.Owner,
		"revision", strconv.FormatInt(g.Registry.Revision, 10),
		"strategy", string(g.Registry.Supervision.Strategy),
		"set", explain.Set(g.Group),
		"stale after", explain.Span(g.Orchestrator.StalenessThreshold),
	)
}

func serviceTree(g Group) tree {
	lines := services(g)
	return tree{Heading: "Services", Lines: planted(lines, "service"),
		Filter: filterLines(g.ID, lines), Empty: "There is no service. This registers one: " +
			explain.Command("dpl-register", "--group", g.ID, "--service", "NAME", "--", "COMMAND")}
}

func services(g Group) (lines []line) {
	for _, s := range g.Tree() {
		lines = append(lines, line{
			ID: s.ID, depth: s.Depth, Pills: pills(string(s.State), explain.Verdict(s), "alive", "-"),
			Details: history(s),
			Facts: facts(
				"pid", table.Number(s.PID),
				"heartbeat", explain.Heard(s.Judgement),
				"restarts", restarts(s),
				"depends on", strings.Join(explain.Needs(s), ", "),
			),
			kind: serviceKind(s),
		})
	}
	return lines
}

func serviceKind(s model.Service) kind {
	if s.InTrouble() {
		return inTrouble
	}
	return kindOf(s.State.Final(), string(s.State))
}

func restarts(s model.Service) string {
	if s.StartInfo == nil {
		return strconv.Itoa(s.RestartAttempts)
	}
	if s.StartInfo.Policy.MaxAttempts == policy.Unlimited {
		return fmt.Sprintf("%d, no limit", s.RestartAttempts)
	}
	return fmt.Sprintf("%d of %d", s.RestartAttempts, s.StartInfo.Policy.MaxAttempts)
}

// history returns how s was started and how it ended.
func history(s model.Service) (all []string) {
	if note := explain.Note(s); note != "" && (s.LastExit == nil || note != explain.Ending(s.LastExit)) {
		all = append(all, note)
	}

	all = append(all, table.Style{}.Limits(s)...)
	now := s.Group.Seen.Now
	if !s.StartedAt.IsZero() {
		text := "started " + explain.Ago(now.Sub(s.StartedAt))
		if s.Attempt > 0 {
			text += fmt.Sprintf(", as restart %d", s.Attempt)
		}
		all = append(all, text)
	}

	if e := s.LastExit; e != nil {
		what := "last ended"
		if s.StillRuns(s.Group.Seen) {
			what = "still runs, although it failed"
		}
		all = append(all, fmt.Sprintf("%s %s: %s", what, explain.Ago(now.Sub(e.At)), explain.Ending(e)))
	}
	if s.StartInfo != nil && s.StartInfo.Group != "" {
		all = append(all, "is the group "+s.StartInfo.Group)
	} else if s.StartInfo != nil {
		// its arguments may contain secrets, and pages are passed around
		all = append(all, "runs "+s.StartInfo.Command)
	}
	if log := s.Log(); log != "" {
		all = append(all, "log "+log)
	}

	return all
}

func alertMood(t group.AlertType) string {
	switch t {
	case group.AlertRestarted, group.AlertCompleted:
		return "good"
	case group.AlertBlocked, group.AlertRebooted, group.AlertTakeover, group.AlertRetrying,
		group.AlertNudged, group.AlertMaintenanceOver, group.AlertLogCut, group.AlertUnchecked:
		return "warn"
	}
	return "bad"
}

// alertSign returns the sign of marks for alerts of type t.
func alertSign(t group.AlertType) string {
	switch t {
	case group.AlertNudged:
		return "?"
	case group.AlertFailed, group.AlertDead:
		return "×"
	case group.AlertCompleted:
		return "✓"
	case group.AlertRestarted:
		return "↻"
	case group.AlertPaused:
		return "‖"
	}
	return "!"
}

// alertWord returns a short word for the type of an alert.
func alertWord(t group.AlertType) string {
	word := strings.TrimPrefix(strings.TrimPrefix(string(t), "supervisor"), "orchestrator")
	return strings.ToLower(word)
}
