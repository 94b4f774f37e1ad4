package page

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
)

// groupTroubles returns what is wrong with g.
func groupTroubles(g Group) (all []trouble) {
	if end := g.Registry.Supervision.End; end.State != group.GroupRunning {
		all = append(all, trouble{rank: byDeath, Mood: "bad",
			What: fmt.Sprintf("the group has %s: %s", end.State, end),
			Cures: []cure{{explain.Command("dpl-restart", "--group", g.ID, "--all"),
				"starts all services again"}}})
	}
	if t, unwatched := unwatchedTrouble(g); unwatched {
		all = append(all, t)
	}

	var lost []string
	for _, s := range g.Tree() {
		if s.State == group.StateRunning && s.Dead() && s.Verdict != "-" && !s.Completing() {
			lost = append(lost, fmt.Sprintf("%s (%s)", s.ID, s.Verdict))
		} else if t, wrong := serviceTrouble(g, s); wrong {
			all = append(all, t)
		}
	}
	if len(lost) > 0 {
		all = append(all, trouble{rank: byDeath, Mood: "bad",
			What:  "no pass has found yet that these services are dead: " + explain.Some(lost),
			Cures: []cure{{explain.Command("dpl-orchestrate", "--group", g.ID), "makes a pass"}}})
	}
	return all
}

// unwatchedTrouble tells that no pass is made over g, where there is something to be restarted.
func unwatchedTrouble(g Group) (trouble, bool) {
	state, lives := g.Orchestrated(), false
	for _, s := range g.Registry.Services {
		lives = lives || !s.State.Final()
	}
	if heard, _ := g.OrchestratorHeard(g.Seen); !lives || heard {
		return trouble{}, false
	}

	what := "the last pass was " + explain.LastPass(g.Group) + ": what fails is not restarted"
	if state == "none" {
		what = "no pass was ever made: nothing is started"
	}
	return trouble{rank: byWaiting, Mood: "warn", What: what,
		Cures: []cure{{explain.Command("dpl-orchestrate", "--group", g.ID, "--every", "5s"),
			"makes a pass every 5 seconds"}}}, true
}

// serviceTrouble tells what is wrong with s, if anything is.
func serviceTrouble(g Group, s model.Service) (t trouble, wrong bool) {
	restart := []string{"dpl-restart", "--group", g.ID, "--service", s.ID}
	why := cure{explain.Command("dpl-status", "--group", g.ID, "--why", s.ID), "explains it"}
	t = trouble{rank: byDeath, Mood: "bad", What: fmt.Sprintf("service %s is %s", s.ID, s.State)}
	if s.LastExit != nil {
		t.What += ": " + explain.Ending(s.LastExit)
	}

	switch {
	case explain.InMaintenance(s) != "":
		return trouble{rank: byHalt, Mood: "warn", What: "service " + s.ID + " is " + explain.InMaintenance(s),
			Cures: []cure{{explain.Command("dpl-register", "--group", g.ID, "--service", s.ID,
				"--maintenance", "off"), "ends that"}}}, true
	case s.State == group.StateDead:
		t.Cures = []cure{{explain.Command(restart...), "starts it again"}}
		if s.StartInfo != nil && s.StartInfo.Command != "" {
			t.Cures = append(t.Cures, cure{explain.Command("dpl-status", "--group", g.ID, "--log", s.ID),
				"prints the end of its output"})
		}
		return t, true
	case s.IsPaused():
		return trouble{rank: byHalt, Mood: "warn", What: "service " + s.ID + " is paused" + paused(s),
			Cures: []cure{{explain.Command(append(restart, "--continue")...), "lets it go on"}}}, true
	case s.BlockedBy != "":
		return trouble{rank: byBlock, Mood: "warn", What: fmt.Sprintf("service %s is blocked by %s",
			s.ID, s.BlockedBy), Cures: []cure{why}}, true
	case s.State == group.StateFailed, s.State == group.StateScheduled:
		t.Mood, t.What = "warn", "service "+s.ID+": "+explain.Note(s)
		t.Cures = []cure{why}
		return t, true
	case s.CannotCheck() != nil && s.CannotCheck().Trouble:
		return trouble{rank: byHalt, Mood: "warn", What: "service " + s.ID + ": " + explain.Note(s),
			Cures: []cure{{explain.Command("dpl-register", "--group", g.ID, "--service", s.ID, "--request",
				"--health", "COMMAND"), "corrects the check"}, why}}, true
	case s.State == group.StateRunning && s.Verdict == "stopped" && s.PID != 0:
		return stoppedTrouble("service "+s.ID, s.PID), true
	}
	return t, false
}

// paused says why s is paused, if a violation is the cause.
func paused(s model.Service) string {
	by := s.PausedBy()
	if by == nil {
		return ""
	}
	text := " for " + by.Code
	if by.Detail != "" {
		text += ": " + by.Detail
	}
	return text
}
