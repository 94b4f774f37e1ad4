package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// most is how many names are listed.
const most = 8

// A service collects sentences about one service.
type service struct {
	g    group.Group
	s    *group.Service
	f    plan.Facts
	seen observe.Observation
	all  []string
}

func (e *service) say(format string, args ...any) {
	e.all = append(e.all, fmt.Sprintf(format, args...)+".")
}

// Service returns why s, a service of g, is in its state, in sentences: its last changes, as far as
// the registry has them, and the rules and numbers that apply to it.
func Service(g group.Group, s *group.Service, seen observe.Observation) []string {
	e := &service{g: g, s: s, f: plan.FactsOf(g, s, seen), seen: seen, all: history(g, s.ID, seen)}
	e.spans()
	switch s.State {
	case group.StateRegistered, group.StateWaiting:
		e.waiting()
	case group.StateRunning:
		e.running()
	case group.StateFailed, group.StateScheduled:
		e.failed()
	case group.StateShuttingDown:
		e.stopping()
	default:
		e.final()
	}

	if pid := e.f.Kept; pid != 0 {
		e.say("The registry was restored, and does not know process %d. kill %d ends it, and a later "+
			"pass starts the service", pid, pid)
	}
	e.set()
	e.lastExit()
	e.policy()
	e.strategy()
	e.groupLimit()
	e.groupEnd()
	return e.all
}

func isGroup(s *group.Service) bool { return s.StartInfo != nil && s.StartInfo.Group != "" }

// spans says since when the service is in a maintenance or silenced, and until when.
func (e *service) spans() {
	if m := e.s.Maintenance; m.On(e.seen.Now) {
		e.say("It is in maintenance, %s, by %s, until %s: passes only carry out a stop or a restart "+
			"that is asked for", At(m.At, e.seen), cmp.Or(m.By, "-"), At(m.Until, e.seen))
	}
	if s := e.s.Silence; s.On(e.seen.Now) {
		e.say("It is silenced, %s, by %s, until %s: hooks get no alerts about it",
			At(s.At, e.seen), cmp.Or(s.By, "-"), At(s.Until, e.seen))
	}
}

func (e *service) waiting() {
	var waits []string
	for _, w := range e.f.Waits {
		switch {
		case w.End && w.Service != nil && w.Service.Restart == policy.Permanent:
			waits = append(waits, "the end of "+w.On+", which is permanent and never completes")
		case w.End:
			waits = append(waits, "the end of "+w.On+", which is "+standing(w))
		default:
			waits = append(waits, w.On+", which is "+standing(w))
		}
	}

	switch {
	case len(waits) > 0:
		e.say("It waits for %s", strings.Join(waits, "; "))
	case e.f.Elsewhere:
		e.say("It is blocked: %s. If it has ended there, dpl-orchestrate --failover starts it here",
			e.s.BlockedBy)
	case e.s.BlockedBy != "":
		e.say("It is blocked: %s", e.s.BlockedBy)
	case e.f.Full:
		e.say("The group runs at most %d services at once: it starts when one of them has ended",
			e.g.Registry.Supervision.Window)
	case e.f.Set == nil:
		e.say("All it depends on is ready: the next pass starts it")
	}
}

// standing returns why a service that another waits for is not ready.
func standing(w plan.Wait) string {
	on := w.Service
	switch {
	case on == nil:
		return "not registered"
	case on.State != group.StateRunning:
		return string(on.State)
	case w.Evidence != "":
		return "running, but dead by the evidence: " + string(w.Evidence)
	case !on.Notice.Readiness.Ready():
		return "running, but says that it is " + string(on.Notice.Readiness)
	case on.Unproven() && on.CannotCheck() != nil:
		return "running, but its health check cannot be run: " + on.CannotCheck().Message
	case on.Unproven():
		return "running, but its health check has yet to succeed"
	}
	return "running"
}

// health says what checks of the service have found.
func (e *service) health() {
	s := e.s
	if s.StartInfo == nil || s.StartInfo.Health.Command == nil {
		return
	}
	c := s.StartInfo.Health.Usual()
	e.say("Passes check its health every %v at most, with %q; %s in a row restart it", c.Every,
		c.Command[len(c.Command)-1], Plural(c.Failures, "failure"))
	switch h := s.Health; {
	case s.CannotCheck() != nil:
		e.say("That check cannot be run, since %s: %s", At(h.CannotRun.At, e.seen),
			h.CannotRun.Message)
		if !h.Passed {
			e.say("Until it has succeeded, the service is not ready")
		}
		e.say("Correct it with dpl-register --health, or what it needs")
	case h == nil:
		e.say("It was started without that check, and has yet to be checked")
	case !h.Passed && h.Output == "":
		e.say("The check has yet to succeed, and until then it is not ready")
	case !h.Passed:
		e.say("The check has yet to succeed, and until then it is not ready; it failed last: %s", h.Output)
	case h.Failures > 0:
		e.say("The last %s failed: %s", Plural(h.Failures, "check"), h.Output)
	default:
		e.say("The last check succeeded")
	}
}

func (e *service) running() {
	s := e.s
	if !s.StartedAt.IsZero() {
		e.say("A pass started it %s", At(s.StartedAt, e.seen))
	}

	e.clocks()
	e.budget()
	e.violated()
	e.paused()
	evidence, age := e.f.Evidence, e.f.Age
	if evidence == "" { // otherwise what its checks have found is of the past
		e.health()
	}
	switch age = age.Round(time.Millisecond); {
	case isGroup(s):
		e.say("It is the group %s, in generation %d; passes over this group serve both",
			s.StartInfo.Group, s.Generation)
	case evidence != "":
		e.say("There is evidence that it is dead: %s", evidence)
	case e.f.Alive && !s.Heartbeats:
		e.say("Its process, %d, exists, and it promised no heartbeats", s.PID)
	default:
		e.say("Its last heartbeat is %v old; after %v it counts as stale", age,
			e.g.Orchestrator.StalenessThreshold)
	}
	if evidence == "" && s.Paused == nil && e.seen.Stopped(s.Vitals) {
		e.say("A signal has stopped its process: kill -CONT %d lets it continue", s.PID)
	}
}

// clocks says what the clocks of the service limit.
func (e *service) clocks() {
	for _, c := range e.s.Clocks(e.seen) {
		text := fmt.Sprintf("Its %s clock shows %v", c.Name, c.Shows.Round(time.Millisecond))
		if c.Soft != 0 {
			text += fmt.Sprintf("; after %v a pass asks for a checkpoint", c.Soft)
		}
		if c.Hard != 0 {
			text += fmt.Sprintf("; after %v passes stop it", c.Hard)
		}
		e.say("%s", text)

		switch {
		case c.AskedAt.IsZero():
		case c.Answered:
			e.say("It was asked for a checkpoint %s, and gave one", At(c.AskedAt, e.seen))
		default:
			e.say("It was asked for a checkpoint %s, and has not answered: dpl-heartbeat exits "+
				"6 until it gives a --note", At(c.AskedAt, e.seen))
		}
		if !c.AskedAt.IsZero() && c.Hard != 0 {
			e.say("It has %v left on that clock", c.Left.Round(time.Millisecond))
		}
	}
}

// violated says which violations were reported of the service, and what was done about them.
func (e *service) violated() {
	for _, v := range e.s.Violations.All() {
		what := strings.TrimSuffix(v.Code+": "+v.Detail, ": ")
		if v.By != "" {
			what += ", by " + v.By
		}
		e.say("It violated a rule %s: %s; the rules of the group said: %s", At(v.At, e.seen),
			what, v.Action)
	}
}

// paused says since when the service is paused, and how that ends.
func (e *service) paused() {
	switch {
	case !e.s.IsPaused():
	case e.s.Paused.Continue:
		e.say("It was paused %s, and goes on with the next pass", At(e.s.Paused.At, e.seen))
	default:
		e.say("It was paused %s: its clocks stand until dpl-restart --continue",
			At(e.s.Paused.At, e.seen))
	}
}

// budget says what the service may spend in this start.
func (e *service) budget() {
	if e.s.StartInfo == nil {
		return
	}

	b, follows := e.s.StartInfo.Budget, "and is dead"
	if b.Action == policy.BudgetRestart {
		follows = "and restarts as after a failure"
	}
	for _, limit := range b.Limits {
		e.say("It has spent %d %s in this start; with more than %d it is stopped, %s",
			e.s.Spent.Of(limit.Name), limit.Name, limit.N, follows)
	}
}

func (e *service) failed() {
	s := e.s
	if s.RestartCause == "" {
		e.say("It failed %s", At(s.FailedAt, e.seen))
	} else {
		e.say("It did not fail itself, but restarts because of %s, since %s", s.RestartCause,
			At(s.FailedAt, e.seen))
	}

	if s.StopFor != nil {
		follows := map[group.Then]string{group.ThenRestart: "it is restarted, or given up, as after any failure",
			group.ThenDead: "it is dead", group.ThenStopped: "it is stopped"}[s.StopFor.Then]
		if s.RestartCause != "" && s.StopFor.Then == group.ThenRestart {
			follows = "it starts with the others of its set"
		}
		e.say("Passes stop it, %s; then %s", s.StopFor, follows)
	}

	if !s.NextAttemptAt.IsZero() {
		after := ""
		if s.RestartCause == "" {
			after = fmt.Sprintf(": %v after the failure", s.NextAttemptAt.Sub(s.FailedAt))
		}
		e.say("Its next start is due %s%s", At(s.NextAttemptAt, e.seen), after)
	}
	if !s.TermSentAt.IsZero() && e.f.Held {
		e.say("What is left of it got %s", e.signals())
	}
}

// signals returns which signals a service gets that is stopped.
func (e *service) signals() string {
	since, after := At(e.s.TermSentAt, e.seen), e.s.KillTimeout
	switch {
	case after == 0:
		return fmt.Sprintf("KILL %s, and gets it again in each pass", since)
	case after == wire.Longest:
		return fmt.Sprintf("TERM %s, and never gets KILL", since)
	}
	return fmt.Sprintf("TERM %s, and gets KILL after %v", since, after)
}

func (e *service) stopping() {
	e.say("It was asked to stop %s", At(e.s.StopRequestedAt, e.seen))
	e.stoppedFor()
	if !e.s.TermSentAt.IsZero() {
		e.say("It got %s", e.signals())
	}

	for i := range e.g.Registry.Services {
		other := &e.g.Registry.Services[i]
		if other.State == group.StateShuttingDown && slices.Contains(other.Dependencies, e.s.ID) {
			e.say("%s depends on it, and must stop first", other.ID)
		}
	}

	switch {
	case e.s.StartAgain:
		e.say("When it has stopped, it is started again")
	case e.s.RemoveAfterStop:
		e.say("When it has stopped, it is removed")
	}
}
