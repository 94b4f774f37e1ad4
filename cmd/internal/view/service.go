package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/group"
)

// A Service is a service of a group, as judged now. Its verdict is "-" if it should not be alive.
type Service struct {
	*group.Service
	Judgement
	Group *Group
	Depth int // the number of services above it in the tree
}

// Services returns the services of g in the order of its file, with a depth of 0.
func (g Group) Services() (all []Service) {
	for i := range g.Registry.Services {
		all = append(all, g.judged(&g.Registry.Services[i]))
	}
	return all
}

func (g Group) judged(s *group.Service) Service {
	j := judge(s.Vitals, g.Orchestrator.StalenessThreshold, true, g.Seen)
	if settled := g.Settled(s.ID); settled != "" {
		j.Verdict = string(settled)
	}
	j.GraceUntil = g.WindowOf(s, g.Seen)
	switch silent := j.Heard == ""; {
	case s.State.Final(),
		silent && j.Verdict == "alive", silent && j.Dead() && s.PID == 0:
		j.Verdict = "-"
	}

	return Service{Service: s, Judgement: j, Group: &g}
}

// Tree returns the services of g, in their order (spec §22.1), except that dependents come after
// the first service they depend on, one level deeper.
func (g Group) Tree() (tree []Service) {
	below := make(map[string][]Service)
	for _, s := range g.Services() {
		parent := g.parent(s.Service)
		below[parent] = append(below[parent], s)
	}

	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		children := below[parent]
		slices.SortFunc(children, func(a, b Service) int { return group.InOrder(a.Service, b.Service) })
		for _, s := range children {
			s.Depth = depth
			tree = append(tree, s)
			add(s.ID, depth+1)
		}
	}

	add("", 0)
	return tree
}

// parent returns the first registered service that s depends on, or "" if there is none or that
// path is a cycle, which only a manually edited file can have.
func (g Group) parent(s *group.Service) string {
	first := g.first(s)
	for above, steps := first, 0; above != ""; steps++ {
		if steps > len(g.Registry.Services) {
			return ""
		}
		above = g.first(g.Service(above))
	}
	return first
}

func (g Group) first(s *group.Service) string {
	for _, d := range slices.Concat(s.Dependencies, s.DependenciesCompleted) {
		if g.Service(d) != nil {
			return d
		}
	}
	return ""
}

// Budget returns the limits of what s may spend in one start.
func (s Service) Budget() group.Amounts {
	if s.StartInfo == nil {
		return nil
	}
	return s.StartInfo.Budget.Limits
}

// Needs returns what s depends on, in words.
func (s Service) Needs() []string {
	all := slices.Clone(s.Dependencies)
	for _, d := range s.DependenciesCompleted {
		all = append(all, "end of "+d)
	}
	return all
}

// pausedBySignal is what people read where the verdict is "stopped", which is also a state.
const pausedBySignal = "paused by a signal"

// Judged returns the verdict of s for people.
func (s Service) Judged() string {
	if s.Verdict == "stopped" {
		return pausedBySignal
	}
	return s.Verdict
}

// Completing reports whether s has ended as it may, and the next pass says that it has completed.
func (s Service) Completing() bool { return s.Group.Completing(s.Service, s.Group.Seen) }

// InTrouble reports whether s should run and does not, is blocked from starting, or has a health
// check that cannot be run.
func (s Service) InTrouble() bool {
	return s.Service.InTrouble(s.Verdict == "alive" || s.Completing(), s.Group.Seen.Now)
}

// Journal returns what finds the output of s in the journal, or "" if it goes to a file.
func (s Service) Journal() string {
	if s.StartInfo == nil || s.Group.Registry.Supervision.Log != group.LogJournal {
		return ""
	}
	return group.JournalName(s.Group.ID, s.ID)
}

// Log returns the path of the log of s, or "" if it has none or the path is unknown.
func (s Service) Log() string {
	if s.StartInfo == nil || s.Group.LogPath == nil || s.Journal() != "" {
		return ""
	}
	return s.Group.LogPath(s.ID)
}

// Note returns what will happen to s, what has happened, and what the reader can do about it, or
// "".
func (s Service) Note() string {
	return strings.Join(append(s.spans(), s.note()...), ", ")
}

// spans says for how long s is in a maintenance, and silenced.
func (s Service) spans() (all []string) {
	if note := s.InMaintenance(); note != "" {
		all = append(all, note)
	}
	if s.Silence.On(s.Group.Seen.Now) {
		all = append(all, "silenced "+s.span(s.Silence))
	}
	return all
}

// InMaintenance says for how long s has been in a maintenance, and will be, or returns "".
func (s Service) InMaintenance() string {
	if m := s.Maintenance; m.On(s.Group.Seen.Now) {
		return "in maintenance " + s.span(&m.Span)
	}
	return ""
}

// span says for how long o has been on, by whose wish, and for how long it will be.
func (s Service) span(o *group.Span) string {
	text := "for " + Span(s.Group.Seen.Now.Sub(o.At))
	if o.By != "" {
		text += " by " + o.By
	}
	return text + " (" + Span(o.Until.Sub(s.Group.Seen.Now)) + " left)"
}

func (s Service) note() []string {
	var all []string
	if s.DidItsWork() {
		all = append(all, Ending(s.LastExit), "completes when nothing of it is left")
	}
	if s.StartAgain {
		all = append(all, "restarting")
	}
	if s.RemoveAfterStop {
		all = append(all, "removed when it has stopped")
	}
	if s.BlockedBy != "" {
		all = append(all, "blocked by "+s.BlockedBy)
	}
	if !s.TermSentAt.IsZero() && (s.State != group.StateScheduled || s.Held(s.Group.Seen)) {
		all = append(all, "asked to end "+Ago(s.TermAge(s.Group.Seen)))
	}
	if why := s.StopFor; why != nil {
		all = append(all, ended(&group.LastExit{Reason: why.Reason, Detail: why.Detail}))
	}
	if len(all) > 0 {
		return all
	}

	if s.LastExit != nil && s.State != group.StateRunning {
		all = append(all, Ending(s.LastExit))
	}

	switch s.State {
	case group.StateRunning:
		all = append(all, s.runningNote()...)
	case group.StateScheduled:
		wait := max(s.NextAttemptAt.Sub(s.Group.Seen.Now), 0)
		all = append(all, "restart in "+Span(wait))
	case group.StateDead, group.StateStopped, group.StateCompleted:
		if s.State == group.StateStopped && s.PID != 0 && s.Group.Seen.Checks(s.Vitals) {
			all = append(all, fmt.Sprintf("its process still runs: kill %d", s.PID))
		}
		if s.StartInfo != nil {
			all = append(all, "dpl-restart starts it")
		}
	}

	return all
}

// pausedNote says since when s is paused, and how that ends.
func (s Service) pausedNote() string {
	note := "paused " + Ago(s.Group.Seen.Age(s.Paused.At, s.Paused.Beat))
	if by := s.PausedBy(); by != nil {
		note += " for " + by.Code
	}
	if s.Paused.Continue {
		return note + ": goes on with the next pass"
	}
	return note + ": dpl-restart --continue"
}

// health says what keeps the health check of s from being well, or "".
func (s Service) health() string {
	switch h := s.Health; {
	case s.CannotCheck() != nil:
		text := "its health check cannot be run, for " + Span(s.Group.Seen.Now.Sub(h.CannotRun.At)) +
			" now: " + h.CannotRun.Message
		if s.Unproven() {
			return "not ready: " + text
		}
		return text
	case s.Unproven() && h.Output == "":
		return "not ready: its health check has yet to succeed"
	case s.Unproven():
		return "not ready: its health check fails: " + h.Output
	case h != nil && h.Failures == 1:
		return "its last health check failed: " + h.Output
	case h != nil && h.Failures > 1:
		return fmt.Sprintf("its last %d health checks failed: %s", h.Failures, h.Output)
	}
	return ""
}

func (s Service) runningNote() (all []string) {
	if s.Group.Settled(s.ID) != "" && s.Ended != nil {
		all = append(all, Ending(s.Ended))
	}
	if s.StartInfo != nil && s.StartInfo.Group != "" {
		all = append(all, "group "+s.StartInfo.Group)
	}
	if window := s.Window(); window != "" {
		all = append(all, window)
	}
	if s.IsPaused() {
		all = append(all, s.pausedNote())
	}
	if said := s.Notice.String(); said != "" {
		all = append(all, said)
	}
	if found := s.health(); found != "" {
		all = append(all, found)
	}
	if s.Outdated() {
		all = append(all, "changed since it was started: dpl-restart")
	}
	return all
}
