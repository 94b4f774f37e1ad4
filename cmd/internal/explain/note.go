package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// Needs returns what s depends on, in words.
func Needs(s model.Service) []string {
	all := slices.Clone(s.Dependencies)
	for _, d := range s.DependenciesCompleted {
		all = append(all, "end of "+d)
	}
	return all
}

// PausedBySignal is what people read where the verdict is "stopped", which is also a state.
const PausedBySignal = "paused by a signal"

// Verdict returns the verdict of s for people.
func Verdict(s model.Service) string {
	if s.Verdict == "stopped" {
		return PausedBySignal
	}
	return s.Verdict
}

// Note returns what will happen to s, what has happened, and what the reader can do about it, or
// "".
func Note(s model.Service) string {
	return strings.Join(append(noteSpans(s), notes(s)...), ", ")
}

// noteSpans says for how long s is in a maintenance, and silenced.
func noteSpans(s model.Service) (all []string) {
	if note := InMaintenance(s); note != "" {
		all = append(all, note)
	}
	if s.Silence.On(s.Group.Seen.Now) {
		all = append(all, "silenced "+noteSpan(s, s.Silence))
	}
	return all
}

// InMaintenance says for how long s has been in a maintenance, and will be, or returns "".
func InMaintenance(s model.Service) string {
	if m := s.Maintenance; m.On(s.Group.Seen.Now) {
		return "in maintenance " + noteSpan(s, &m.Span)
	}
	return ""
}

// noteSpan says for how long o has been on, by whose wish, and for how long it will be.
func noteSpan(s model.Service, o *group.Span) string {
	text := "for " + Span(s.Group.Seen.Now.Sub(o.At))
	if o.By != "" {
		text += " by " + o.By
	}
	return text + " (" + Span(o.Until.Sub(s.Group.Seen.Now)) + " left)"
}

func notes(s model.Service) []string {
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
		all = append(all, ended(&policy.Exit{Reason: why.Reason, Detail: why.Detail}))
	}
	if len(all) > 0 {
		return all
	}

	if s.LastExit != nil && s.State != group.StateRunning {
		all = append(all, Ending(s.LastExit))
	}

	switch s.State {
	case group.StateRunning:
		all = append(all, runningNote(s)...)
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
func pausedNote(s model.Service) string {
	note := "paused " + Ago(s.Group.Seen.Age(s.Paused.At, s.Paused.Beat))
	if by := s.PausedBy(); by != nil {
		note += " for " + by.Code
	}
	if s.Paused.Continue {
		return note + ": goes on with the next pass"
	}
	return note + ": dpl-restart --continue"
}

// healthNote says what keeps the health check of s from being well, or "".
func healthNote(s model.Service) string {
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

func runningNote(s model.Service) (all []string) {
	if s.Group.Settled(s.ID) != "" && s.Ended != nil {
		all = append(all, Ending(s.Ended))
	}
	if s.StartInfo != nil && s.StartInfo.Group != "" {
		all = append(all, "group "+s.StartInfo.Group)
	}
	if window := Window(s.Judgement); window != "" {
		all = append(all, window)
	}
	if s.IsPaused() {
		all = append(all, pausedNote(s))
	}
	if said := s.Notice.String(); said != "" {
		all = append(all, said)
	}
	if found := healthNote(s); found != "" {
		all = append(all, found)
	}
	if s.Outdated() {
		all = append(all, "changed since it was started: dpl-restart")
	}
	return all
}
