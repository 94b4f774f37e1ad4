package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// most is how many names are listed.
const most = 8

// A service collects sentences about one service.
type service struct {
	g    group.Group
	s    *group.Service
	f    group.Facts
	seen observe.Observation
	all  []string
}

func (e *service) say(format string, args ...any) {
	e.all = append(e.all, fmt.Sprintf(format, args...)+".")
}

// Service returns why s, a service of g, is in its state, in sentences: its last changes, as far as
// the registry has them, and the rules and numbers that apply to it.
func Service(g group.Group, s *group.Service, seen observe.Observation) []string {
	e := &service{g: g, s: s, f: g.Facts(s, seen), seen: seen, all: history(g, s.ID, seen)}
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

// Steps returns what a pass does about a service, without full stops.
func Steps(steps []group.Step) []string {
	all := []string{}
	for _, s := range steps {
		all = append(all, step(s))
	}
	return all
}

func step(s group.Step) (text string) {
	switch s.Kind {
	case group.StepChange:
		text = change(s.From, s.To, s.Reason)
	case group.StepStart:
		text = fmt.Sprintf("start it, attempt %d, because of: %s", s.Attempt, s.Reason)
	case group.StepSignal:
		text = fmt.Sprintf("send %s to its %s, %d", s.Signal, s.Target, s.PID)
	case group.StepBeginGroup:
		text = "let the group " + s.Group + " begin"
	case group.StepEndGroup:
		text = "let the group " + s.Group + " end"
	case group.StepBlock:
		text = "not start it, blocked by " + s.Reason
	}

	switch s.If {
	case group.IfCheckPasses:
		text += ", if its health check succeeds"
	case group.IfCheckFails:
		text += ", if its health check fails"
	}
	return text
}

// change returns a change of the state of a service.
func change(from, to, reason string) string {
	text := fmt.Sprintf("%s → %s", cmp.Or(from, "new"), cmp.Or(to, "removed"))
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// history returns the last changes of the service id, as far as the registry has them.
func history(g group.Group, id string, seen observe.Observation) (all []string) {
	const most = 5
	for _, e := range g.Registry.Events {
		if e.SupervisorID == id && e.Type == observe.SupervisorState {
			all = append(all, fmt.Sprintf("%s: %s, by %s.", At(e.At, seen),
				change(e.From, e.To, e.Reason), cmp.Or(e.By, "-")))
		}
	}
	return all[max(len(all)-most, 0):]
}

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
		case w.End && w.Service != nil && w.Service.Restart == group.Permanent:
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
func standing(w group.Wait) string {
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
	if b.Action == group.BudgetRestart {
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

// stoppedFor says together with which other service this one was stopped.
func (e *service) stoppedFor() {
	if on := e.f.StoppedFor; on != "" {
		e.say("It was stopped together with %s, on which it depends; a restart of %s does not start it",
			on, on)
	}
}

// final says why nothing happens any more.
func (e *service) final() {
	switch why := e.f.GivenUp; {
	case e.s.State == group.StateCompleted:
		e.say("It has done its work: what depends on it may start")
	case e.s.State == group.StateDead && why != group.NoGiveUp:
		e.say("Passes gave it up: %s", e.gaveUp(why))
	}
	if e.s.State == group.StateStopped {
		e.stoppedFor()
	}
	if e.g.Registry.Supervision.End.State == group.GroupRunning {
		e.say("It is %s: no pass starts it again. dpl-restart does, or dpl-register", e.s.State)
	}
}

// gaveUp returns why a service was given up, with the rule.
func (e *service) gaveUp(why group.GiveUp) string {
	s, p := e.s, e.f.Policy
	switch why {
	case group.NotRestartable:
		return "it is not restartable"
	case group.OnlyOnce:
		return "it is temporary, and those are started once"
	case group.EndedForGood:
		return "its last end is terminal: a restart would end in the same way"
	case group.SameEnd:
		return fmt.Sprintf("%d ends in a row were persistent, and the second is final", s.PersistentRow)
	case group.MostAttempts:
		return fmt.Sprintf("%s, and it may have %d", Plural(s.RestartAttempts, "attempt"), p.MaxAttempts)
	case group.MostEnds:
		return fmt.Sprintf("%s in %v, and it may have %d", Plural(len(s.Restarts), "end"),
			p.IntensityPeriod, p.Intensity)
	}
	return fmt.Sprintf("its next start would be later than %v after its first failure, which is its "+
		"deadline", p.Deadline)
}

// set says with whom the service restarts, and what they wait for.
func (e *service) set() {
	open := e.f.Set
	if open == nil || len(open.Services) == 1 || e.s.State == group.StateRunning || e.s.State.Final() {
		return
	}

	because := ""
	if len(open.Causes) > 0 {
		because = ", because of " + Some(open.Causes)
	}
	e.say("These restart together%s: %s", because, Some(open.Services))
	if len(open.Held) > 0 {
		e.say("None of them starts before all have ended; still to end: %s",
			Some(open.Held))
	} else if open.Due.After(e.seen.Now) {
		e.say("All have ended; the first starts %s", At(open.Due, e.seen))
	}
}

func (e *service) lastExit() {
	last := e.s.LastExit
	if last == nil {
		return
	}

	means := ""
	if last.Class != "" {
		means = fmt.Sprintf(", which counts as %s", last.Class)
		if !e.f.Charged {
			means += " and uses up no attempt"
		}
	}
	what := "process"
	switch {
	case e.s.StillRuns(e.seen):
		e.say("It was to end %s: %s%s. Its process, %d, still runs", At(last.At, e.seen), last,
			means, e.s.PID)
		return
	case isGroup(e.s):
		what = "start"
	}
	e.say("Its last %s ended %s: %s%s", what, At(last.At, e.seen), last, means)
}

// policy says after which ends the service is restarted, how soon and how often.
func (e *service) policy() {
	s := e.s
	switch {
	case s.StartInfo == nil:
		e.say("It has no command: no pass can start it")
		return
	case !s.Restartable:
		e.say("It is not restarted after a failure")
		return
	case s.Restart == group.Temporary:
		e.say("It is temporary: however it ends, no pass starts it again")
		return
	case s.Restart == group.Transient:
		e.say("%s transient: it is restarted after a failure, and has completed after a success", e.itIs())
	default:
		e.say("%s permanent: it is restarted whenever it ends", e.itIs())
	}

	e.attempts()
	if s.State != group.StateRunning || e.f.Evidence != "" {
		return
	}
	delay, most := e.f.Delay, e.f.Policy.MaxAttempts
	switch {
	case most != group.Unlimited && s.RestartAttempts >= most:
		e.say("Its next failure that is charged is its last")
	case delay == 0:
		e.say("If it fails now, it is restarted at once")
	default:
		e.say("If it fails now, its restart waits %v", delay)
	}
}

// itIs begins a sentence about what passes do when the service ends, which no longer holds of one
// that is over, and not yet of one whose end no pass has seen.
func (e *service) itIs() string {
	switch {
	case e.s.State.Final():
		return "Once it is started again, it is"
	case e.s.State == group.StateRunning && e.f.Evidence != "":
		return "As long as passes do not give it up, it is"
	}
	return "It is"
}

// attempts says how many restarts are left.
func (e *service) attempts() {
	s, p := e.s, e.f.Policy
	most := "without a limit"
	if p.MaxAttempts != group.Unlimited {
		most = fmt.Sprintf("of at most %d", p.MaxAttempts)
	}
	e.say("Restarts so far: %d %s; after %v of running they are counted from 0 again",
		s.RestartAttempts, most, p.ResetAfter)
	if s.Retries > 0 {
		e.say("Restarts besides that were not charged: %d", s.Retries)
	}
	if s.PersistentRow == 1 {
		e.say("Its last end is persistent: another one like it is final")
	}

	if p.IntensityPeriod != 0 {
		recent := 0
		for _, at := range s.Restarts {
			if age := e.seen.Now.Sub(at); 0 <= age && age <= p.IntensityPeriod {
				recent++
			}
		}
		e.say("Ends of it that were charged in the last %v: %d; with more than %d it is given up",
			p.IntensityPeriod, recent, p.Intensity)
	}
}

// strategy says what a failure of the service means for others, and theirs for it.
func (e *service) strategy() {
	strategy := e.g.Registry.Supervision.Strategy
	joins := e.s.StartInfo != nil && e.s.Restartable && !e.s.State.Final()
	if !e.f.Together || !joins {
		return
	}

	temporary := e.s.Restart == group.Temporary
	switch {
	case strategy == group.OneForAll && temporary:
		e.say("The strategy of the group is %s: a failure of another stops it for good", strategy)
		return
	case strategy == group.OneForAll:
		e.say("The strategy of the group is %s: a failure of one restarts all", strategy)
		return
	}

	before, after := e.f.Before, e.f.After
	if temporary {
		e.say("The strategy of the group is %s: it is stopped for good when one of these fails: %s",
			strategy, cmp.Or(Some(before), "none"))
		return
	}
	e.say("The strategy of the group is %s: its failure also restarts %s; it restarts when one of "+
		"these fails: %s", strategy, cmp.Or(Some(after), "no other"), cmp.Or(Some(before), "none"))
}

// groupLimit says what limits the failures of the group.
func (e *service) groupLimit() {
	v := e.g.Registry.Supervision
	if v.Limit.Period == 0 {
		return
	}

	follows := map[group.OnIntensity]string{
		group.Escalate: "it ends",
		group.Park:     "the services that failed are dead",
		group.Delay:    "restarts wait until the oldest of them no longer counts",
	}
	e.say("Its group stands %d failures of its services in %v; after more, %s. It counts %d",
		v.Limit.Intensity, v.Limit.Period, follows[v.Limit.OnIntensity], len(v.Restarts))
}

// groupEnd says that the group ends, why, and what brings it back.
func (e *service) groupEnd() {
	v := e.g.Registry.Supervision
	if v.End.State == group.GroupRunning {
		return
	}

	e.say("Its group is %s, and nothing of it is started: %s", v.End.State, v.End)
	if v.End.Reason == group.EndIntensity {
		for _, at := range v.Restarts {
			e.say("A failure counted: %s", At(at, e.seen))
		}
	}
	switch {
	case e.s.StoppedBy != "":
		e.say("%s asked for its stop, so it stays stopped when the group runs again", e.s.StoppedBy)
	case e.s.StartInfo != nil:
		e.say("dpl-register --resume lets the group run again, and starts it")
	}
}

// At returns the time t, and how far it is from now.
func At(t time.Time, seen observe.Observation) string {
	text, ago := t.UTC().Format(time.RFC3339), seen.Now.Sub(t).Round(time.Millisecond)
	if ago < 0 {
		return fmt.Sprintf("%s, in %v", text, -ago)
	}
	return fmt.Sprintf("%s, %v ago", text, ago)
}
