package explain

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
)

// GroupTroubles returns what is wrong with g.
func GroupTroubles(g model.Group) (all []Trouble) {
	if end := g.Registry.Supervision.End; end.State != group.GroupRunning {
		all = append(all, Trouble{Rank: ByDeath, Mood: "bad",
			What: fmt.Sprintf("the group has %s: %s", end.State, end),
			Cures: []Cure{{Command("dpl-restart", "--group", g.ID, "--all"),
				"starts all services again"}}})
	}
	if t, unwatched := unwatchedTrouble(g); unwatched {
		all = append(all, t)
	}

	var lost []string
	for _, s := range g.Tree() {
		if s.State == group.StateRunning && s.Dead() && s.Verdict != "-" && !s.Completing() {
			lost = append(lost, fmt.Sprintf("%s (%s)", s.ID, s.Verdict))
		} else if t, wrong := ServiceTrouble(g, s); wrong {
			all = append(all, t)
		}
	}
	if len(lost) > 0 {
		all = append(all, Trouble{Rank: ByDeath, Mood: "bad",
			What:  "no pass has found yet that these services are dead: " + Some(lost),
			Cures: []Cure{{Command("dpl-orchestrate", "--group", g.ID), "makes a pass"}}})
	}
	return all
}

// unwatchedTrouble tells that no pass is made over g, where there is something to be restarted.
func unwatchedTrouble(g model.Group) (Trouble, bool) {
	state, lives := g.Orchestrated(), false
	for _, s := range g.Registry.Services {
		lives = lives || !s.State.Final()
	}
	if heard, _ := g.OrchestratorHeard(g.Seen); !lives || heard {
		return Trouble{}, false
	}

	what := "the last pass was " + LastPass(g) + ": what fails is not restarted"
	if state == "none" {
		what = "no pass was ever made: nothing is started"
	}
	return Trouble{Rank: ByWaiting, Mood: "warn", What: what,
		Cures: []Cure{{Command("dpl-orchestrate", "--group", g.ID, "--every", "5s"),
			"makes a pass every 5 seconds"}}}, true
}

// ServiceTrouble returns what is wrong with s, if anything is.
func ServiceTrouble(g model.Group, s model.Service) (t Trouble, wrong bool) {
	restart := []string{"dpl-restart", "--group", g.ID, "--service", s.ID}
	why := Cure{Command("dpl-status", "--group", g.ID, "--why", s.ID), "explains it"}
	t = Trouble{Rank: ByDeath, Mood: "bad", What: fmt.Sprintf("service %s is %s", s.ID, s.State)}
	if s.LastExit != nil {
		t.What += ": " + Ending(s.LastExit)
	}

	switch {
	case InMaintenance(s) != "":
		return Trouble{Rank: ByHalt, Mood: "warn", What: "service " + s.ID + " is " + InMaintenance(s),
			Cures: []Cure{{Command("dpl-register", "--group", g.ID, "--service", s.ID,
				"--maintenance", "off"), "ends that"}}}, true
	case s.State == group.StateDead:
		t.Cures = []Cure{{Command(restart...), "starts it again"}}
		if s.StartInfo != nil && s.StartInfo.Command != "" {
			t.More = []Cure{{Command("dpl-status", "--group", g.ID, "--log", s.ID),
				"prints the end of its output"}}
		}
		return t, true
	case s.IsPaused():
		return Trouble{Rank: ByHalt, Mood: "warn", What: "service " + s.ID + " is paused" + paused(s),
			Cures: []Cure{{Command(append(restart, "--continue")...), "lets it go on"}}}, true
	case s.BlockedBy != "":
		return Trouble{Rank: ByBlock, Mood: "warn", What: fmt.Sprintf("service %s is blocked by %s",
			s.ID, s.BlockedBy), More: []Cure{why}}, true
	case s.State == group.StateFailed, s.State == group.StateScheduled:
		t.Mood, t.What = "warn", "service "+s.ID+": "+Note(s)
		t.More = []Cure{why}
		return t, true
	case s.CannotCheck() != nil && s.CannotCheck().Trouble:
		return Trouble{Rank: ByHalt, Mood: "warn", What: "service " + s.ID + ": " + Note(s),
			Cures: []Cure{{Command("dpl-register", "--group", g.ID, "--service", s.ID, "--request",
				"--health", "COMMAND"), "corrects the check"}}, More: []Cure{why}}, true
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

// ServiceCures returns the commands that end the trouble of a service, if it has one.
func ServiceCures(g model.Group, s model.Service) []Cure {
	t, _ := ServiceTrouble(g, s)
	return t.Cures
}
