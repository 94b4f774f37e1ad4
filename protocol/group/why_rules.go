package group

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A telling collects sentences about one service.
type telling struct {
	g    Group
	s    *Service
	seen observe.Observation
	all  []string
}

func (t *telling) say(format string, args ...any) {
	t.all = append(t.all, fmt.Sprintf(format, args...)+".")
}

// rules returns what applies to s in its state.
func (g Group) rules(s *Service, seen observe.Observation) []string {
	t := &telling{g: g, s: s, seen: seen}
	t.spans()
	switch s.State {
	case StateRegistered, StateWaiting:
		t.waiting()
	case StateRunning:
		t.running()
	case StateFailed, StateScheduled:
		t.failed()
	case StateShuttingDown:
		t.stopping()
	default:
		t.final()
	}

	if pid, another := strings.CutPrefix(t.s.BlockedBy, anotherLives); another {
		t.say("The registry was restored, and does not know process %s. kill %s ends it, and a later "+
			"pass starts the service", pid, pid)
	}
	t.set()
	t.lastExit()
	t.policy()
	t.strategy()
	t.groupLimit()
	t.groupEnd()
	return t.all
}

// spans says since when the service is in a maintenance or silenced, and until when.
func (t *telling) spans() {
	if m := t.s.Maintenance; m.On(t.seen.Now) {
		t.say("It is in maintenance, %s, by %s, until %s: passes only carry out a stop or a restart "+
			"that is asked for", moment(m.At, t.seen), cmp.Or(m.By, "-"), moment(m.Until, t.seen))
	}
	if s := t.s.Silence; s.On(t.seen.Now) {
		t.say("It is silenced, %s, by %s, until %s: hooks get no alerts about it",
			moment(s.At, t.seen), cmp.Or(s.By, "-"), moment(s.Until, t.seen))
	}
}

func (t *telling) waiting() {
	var waits []string
	for _, d := range t.s.Dependencies {
		if on := t.g.Service(d); on == nil || !t.g.ready(on, t.seen) {
			waits = append(waits, d+", which is "+t.standing(on))
		}
	}

	for _, d := range t.s.DependenciesCompleted {
		switch on := t.g.Service(d); {
		case on != nil && on.State == StateCompleted:
		case on != nil && on.Restart == Permanent:
			waits = append(waits, "the end of "+d+", which is permanent and never completes")
		default:
			waits = append(waits, "the end of "+d+", which is "+t.standing(on))
		}
	}

	switch {
	case len(waits) > 0:
		t.say("It waits for %s", strings.Join(waits, "; "))
	case t.s.BlockedBy == blockedElsewhere:
		t.say("It is blocked: %s. If it has ended there, dpl-orchestrate --failover starts it here",
			t.s.BlockedBy)
	case t.s.BlockedBy != "":
		t.say("It is blocked: %s", t.s.BlockedBy)
	case t.g.Registry.full():
		t.say("The group runs at most %d services at once: it starts when one of them has ended",
			t.g.Registry.Supervision.Window)
	case !t.g.Registry.inSet(t.s.ID):
		t.say("All it depends on is ready: the next pass starts it")
	}
}

// standing returns why a service that another waits for is not ready. nil is not registered.
func (t *telling) standing(on *Service) string {
	if on == nil {
		return "not registered"
	}
	if on.State != StateRunning {
		return string(on.State)
	}

	if evidence := t.g.dead(on, t.seen); evidence != "" {
		return "running, but dead by the evidence: " + string(evidence)
	}
	if !on.Notice.Readiness.Ready() {
		return "running, but says that it is " + string(on.Notice.Readiness)
	}
	if c := on.CannotCheck(); c != nil && on.Unproven() {
		return "running, but its health check cannot be run: " + c.Message
	}
	if on.Unproven() {
		return "running, but its health check has yet to succeed"
	}
	return "running"
}

// health says what checks of the service have found.
func (t *telling) health() {
	s := t.s
	if !s.hasCheck() {
		return
	}
	c := s.StartInfo.Health.Usual()
	t.say("Passes check its health every %v at most, with %q; %s in a row restart it", c.Every,
		c.Command[len(c.Command)-1], counted(c.Failures, "failure"))
	switch h := s.Health; {
	case s.CannotCheck() != nil:
		t.say("That check cannot be run, since %s: %s", moment(h.CannotRun.At, t.seen),
			h.CannotRun.Message)
		if !h.Passed {
			t.say("Until it has succeeded, the service is not ready")
		}
		t.say("Correct it with dpl-register --health, or what it needs")
	case h == nil:
		t.say("It was started without that check, and has yet to be checked")
	case !h.Passed && h.Output == "":
		t.say("The check has yet to succeed, and until then it is not ready")
	case !h.Passed:
		t.say("The check has yet to succeed, and until then it is not ready; it failed last: %s", h.Output)
	case h.Failures > 0:
		t.say("The last %s failed: %s", counted(h.Failures, "check"), h.Output)
	default:
		t.say("The last check succeeded")
	}
}

func (t *telling) running() {
	s := t.s
	if !s.StartedAt.IsZero() {
		t.say("A pass started it %s", moment(s.StartedAt, t.seen))
	}

	t.clocks()
	t.budget()
	t.violated()
	t.paused()
	evidence, age := t.g.JudgeService(s, t.seen)
	if evidence == "" { // otherwise what its checks have found is of the past
		t.health()
	}
	switch age = age.Round(time.Millisecond); {
	case s.isGroup():
		t.say("It is the group %s, in generation %d; passes over this group serve both",
			s.StartInfo.Group, s.Generation)
	case evidence != "":
		t.say("There is evidence that it is dead: %s", evidence)
	case s.alive(t.seen) && !s.Heartbeats:
		t.say("Its process, %d, exists, and it promised no heartbeats", s.PID)
	default:
		t.say("Its last heartbeat is %v old; after %v it counts as stale", age,
			t.g.Orchestrator.StalenessThreshold)
	}
	if evidence == "" && s.Paused == nil && t.seen.Stopped(s.Vitals) {
		t.say("A signal has stopped its process: kill -CONT %d lets it continue", s.PID)
	}
}

// clocks says what the clocks of the service limit.
func (t *telling) clocks() {
	for _, c := range t.s.Clocks(t.seen) {
		text := fmt.Sprintf("Its %s clock shows %v", c.Name, c.Shows.Round(time.Millisecond))
		if c.Soft != 0 {
			text += fmt.Sprintf("; after %v a pass asks for a checkpoint", c.Soft)
		}
		if c.Hard != 0 {
			text += fmt.Sprintf("; after %v passes stop it", c.Hard)
		}
		t.say("%s", text)

		switch {
		case c.AskedAt.IsZero():
		case c.Answered:
			t.say("It was asked for a checkpoint %s, and gave one", moment(c.AskedAt, t.seen))
		default:
			t.say("It was asked for a checkpoint %s, and has not answered: dpl-heartbeat exits "+
				"6 until it gives a --note", moment(c.AskedAt, t.seen))
		}
		if !c.AskedAt.IsZero() && c.Hard != 0 {
			t.say("It has %v left on that clock", c.Left.Round(time.Millisecond))
		}
	}
}

// violated says which violations were reported of the service, and what was done about them.
func (t *telling) violated() {
	for _, v := range t.s.Violations.All() {
		what := strings.TrimSuffix(v.Code+": "+v.Detail, ": ")
		if v.By != "" {
			what += ", by " + v.By
		}
		t.say("It violated a rule %s: %s; the rules of the group said: %s", moment(v.At, t.seen),
			what, v.Action)
	}
}

// paused says since when the service is paused, and how that ends.
func (t *telling) paused() {
	switch {
	case !t.s.IsPaused():
	case t.s.Paused.Continue:
		t.say("It was paused %s, and goes on with the next pass", moment(t.s.Paused.At, t.seen))
	default:
		t.say("It was paused %s: its clocks stand until dpl-restart --continue",
			moment(t.s.Paused.At, t.seen))
	}
}

// budget says what the service may spend in this start.
func (t *telling) budget() {
	if t.s.StartInfo == nil {
		return
	}

	b, follows := t.s.StartInfo.Budget, "and is dead"
	if b.Action == BudgetRestart {
		follows = "and restarts as after a failure"
	}
	for _, limit := range b.Limits {
		t.say("It has spent %d %s in this start; with more than %d it is stopped, %s",
			t.s.Spent.Of(limit.Name), limit.Name, limit.N, follows)
	}
}

func (t *telling) failed() {
	s := t.s
	if s.RestartCause == "" {
		t.say("It failed %s", moment(s.FailedAt, t.seen))
	} else {
		t.say("It did not fail itself, but restarts because of %s, since %s", s.RestartCause,
			moment(s.FailedAt, t.seen))
	}

	if s.StopFor != nil {
		follows := map[Then]string{ThenRestart: "it is restarted, or given up, as after any failure",
			ThenDead: "it is dead", ThenStopped: "it is stopped"}[s.StopFor.Then]
		if s.RestartCause != "" && s.StopFor.Then == ThenRestart {
			follows = "it starts with the others of its set"
		}
		t.say("Passes stop it, %s; then %s", s.StopFor, follows)
	}

	if !s.NextAttemptAt.IsZero() {
		after := ""
		if s.RestartCause == "" {
			after = fmt.Sprintf(": %v after the failure", s.NextAttemptAt.Sub(s.FailedAt))
		}
		t.say("Its next start is due %s%s", moment(s.NextAttemptAt, t.seen), after)
	}
	if !s.TermSentAt.IsZero() && s.held(t.seen) {
		t.say("What is left of it got %s", t.signals())
	}
}

// signals returns which signals a service gets that is stopped.
func (t *telling) signals() string {
	since, after := moment(t.s.TermSentAt, t.seen), t.s.KillTimeout
	switch {
	case after == 0:
		return fmt.Sprintf("KILL %s, and gets it again in each pass", since)
	case after == wire.Longest:
		return fmt.Sprintf("TERM %s, and never gets KILL", since)
	}
	return fmt.Sprintf("TERM %s, and gets KILL after %v", since, after)
}

func (t *telling) stopping() {
	t.say("It was asked to stop %s", moment(t.s.StopRequestedAt, t.seen))
	t.stoppedFor()
	if !t.s.TermSentAt.IsZero() {
		t.say("It got %s", t.signals())
	}

	for i := range t.g.Registry.Services {
		other := &t.g.Registry.Services[i]
		if other.State == StateShuttingDown && dependsOn(other, t.s.ID) {
			t.say("%s depends on it, and must stop first", other.ID)
		}
	}

	switch {
	case t.s.StartAgain:
		t.say("When it has stopped, it is started again")
	case t.s.RemoveAfterStop:
		t.say("When it has stopped, it is removed")
	}
}

// stoppedFor says together with which other service this one was stopped.
func (t *telling) stoppedFor() {
	if on := t.g.Registry.stoppedFor(t.s.ID); on != "" {
		t.say("It was stopped together with %s, on which it depends; a restart of %s does not start it", on, on)
	}
}

func dependsOn(s *Service, id string) bool {
	for _, d := range s.Dependencies {
		if d == id {
			return true
		}
	}
	return false
}

// final says why nothing happens any more.
func (t *telling) final() {
	switch why := t.s.givenUp(); {
	case t.s.State == StateCompleted:
		t.say("It has done its work: what depends on it may start")
	case t.s.State == StateDead && why != "":
		t.say("Passes gave it up: %s", t.limit(why))
	}
	if t.s.State == StateStopped {
		t.stoppedFor()
	}
	if t.g.Registry.Supervision.End.State == GroupRunning {
		t.say("It is %s: no pass starts it again. dpl-restart does, or dpl-register", t.s.State)
	}
}

// limit returns why a service was given up, with the rule.
func (t *telling) limit(why string) string {
	s := t.s
	switch {
	case why == string(Temporary):
		return "it is temporary, and those are started once"
	case why == string(Terminal):
		return "its last end is terminal: a restart would end in the same way"
	case strings.HasPrefix(why, string(Persistent)):
		return why + ", and the second is final"
	case why == counted(s.RestartAttempts, "attempt"):
		return fmt.Sprintf("%s, and it may have %d", why, s.policy().MaxAttempts)
	case s.tooIntense():
		return fmt.Sprintf("%s, and it may have %d", why, s.policy().Intensity)
	}
	return "it is " + why
}

// set says with whom the service restarts, and what they wait for.
func (t *telling) set() {
	if !t.g.Registry.inSet(t.s.ID) || t.s.State == StateRunning || t.s.State.Final() {
		return
	}

	open := t.g.OpenSet(t.seen)
	if len(open.Services) == 1 {
		return
	}
	because := ""
	if len(open.Causes) > 0 {
		because = ", because of " + some(open.Causes)
	}
	t.say("These restart together%s: %s", because, some(open.Services))
	if len(open.Held) > 0 {
		t.say("None of them starts before all have ended; still to end: %s",
			some(open.Held))
	} else if open.Due.After(t.seen.Now) {
		t.say("All have ended; the first starts %s", moment(open.Due, t.seen))
	}
}

func (t *telling) lastExit() {
	e := t.s.LastExit
	if e == nil {
		return
	}

	means := ""
	if e.Class != "" {
		means = fmt.Sprintf(", which counts as %s", e.Class)
		if !e.charged() {
			means += " and uses up no attempt"
		}
	}
	what := "process"
	switch {
	case t.s.StillRuns(t.seen):
		t.say("It was to end %s: %s%s. Its process, %d, still runs", moment(e.At, t.seen), e, means,
			t.s.PID)
		return
	case t.s.isGroup():
		what = "start"
	}
	t.say("Its last %s ended %s: %s%s", what, moment(e.At, t.seen), e, means)
}

// policy says after which ends the service is restarted, how soon and how often.
func (t *telling) policy() {
	s := t.s
	switch {
	case s.StartInfo == nil:
		t.say("It has no command: no pass can start it")
		return
	case !s.Restartable:
		t.say("It is not restarted after a failure")
		return
	case s.Restart == Temporary:
		t.say("It is temporary: however it ends, no pass starts it again")
		return
	case s.Restart == Transient:
		t.say("%s transient: it is restarted after a failure, and has completed after a success", t.itIs())
	default:
		t.say("%s permanent: it is restarted whenever it ends", t.itIs())
	}

	t.attempts()
	if s.State != StateRunning || t.g.dead(s, t.seen) != "" {
		return
	}
	delay, most := s.policy().delay(s.RestartAttempts+s.Retries), s.policy().MaxAttempts
	switch {
	case most != Unlimited && s.RestartAttempts >= most:
		t.say("Its next failure that is charged is its last")
	case delay == 0:
		t.say("If it fails now, it is restarted at once")
	default:
		t.say("If it fails now, its restart waits %v", delay)
	}
}

// itIs begins a sentence about what passes do when the service ends, which no longer holds of one
// that is over, and not yet of one whose end no pass has seen.
func (t *telling) itIs() string {
	switch {
	case t.s.State.Final():
		return "Once it is started again, it is"
	case t.s.State == StateRunning && t.g.dead(t.s, t.seen) != "":
		return "As long as passes do not give it up, it is"
	}
	return "It is"
}

// attempts says how many restarts are left.
func (t *telling) attempts() {
	s, p := t.s, t.s.policy()
	most := "without a limit"
	if p.MaxAttempts != Unlimited {
		most = fmt.Sprintf("of at most %d", p.MaxAttempts)
	}
	t.say("Restarts so far: %d %s; after %v of running they are counted from 0 again",
		s.RestartAttempts, most, p.ResetAfter)
	if s.Retries > 0 {
		t.say("Restarts besides that were not charged: %d", s.Retries)
	}
	if s.PersistentRow == 1 {
		t.say("Its last end is persistent: another one like it is final")
	}

	if p.IntensityPeriod != 0 {
		recent := 0
		for _, at := range s.Restarts {
			if age := t.seen.Now.Sub(at); 0 <= age && age <= p.IntensityPeriod {
				recent++
			}
		}
		t.say("Ends of it that were charged in the last %v: %d; with more than %d it is given up",
			p.IntensityPeriod, recent, p.Intensity)
	}
}

// strategy says what a failure of the service means for others, and theirs for it.
func (t *telling) strategy() {
	strategy := t.g.Registry.Supervision.Strategy
	joins := t.s.StartInfo != nil && t.s.Restartable && !t.s.State.Final()
	if !strategy.together() || !joins {
		return
	}

	temporary := t.s.Restart == Temporary
	switch {
	case strategy == OneForAll && temporary:
		t.say("The strategy of the group is %s: a failure of another stops it for good", strategy)
		return
	case strategy == OneForAll:
		t.say("The strategy of the group is %s: a failure of one restarts all", strategy)
		return
	}

	var before, after []string
	for _, id := range t.g.Registry.ordered() {
		switch order := InOrder(t.g.Service(id), t.s); {
		case order < 0:
			before = append(before, id)
		case order > 0:
			after = append(after, id)
		}
	}
	if temporary {
		t.say("The strategy of the group is %s: it is stopped for good when one of these fails: %s",
			strategy, cmp.Or(some(before), "none"))
		return
	}
	t.say("The strategy of the group is %s: its failure also restarts %s; it restarts when one of "+
		"these fails: %s", strategy, cmp.Or(some(after), "no other"), cmp.Or(some(before), "none"))
}

// some returns the first of ids, and how many there are besides.
func some(ids []string) string {
	const most = 8
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

// groupLimit says what limits the failures of the group.
func (t *telling) groupLimit() {
	v := t.g.Registry.Supervision
	if v.Limit.Period == 0 {
		return
	}

	follows := map[OnIntensity]string{
		Escalate: "it ends",
		Park:     "the services that failed are dead",
		Delay:    "restarts wait until the oldest of them no longer counts",
	}
	t.say("Its group stands %d failures of its services in %v; after more, %s. It counts %d",
		v.Limit.Intensity, v.Limit.Period, follows[v.Limit.OnIntensity], len(v.Restarts))
}

// groupEnd says that the group ends, why, and what brings it back.
func (t *telling) groupEnd() {
	v := t.g.Registry.Supervision
	if v.End.State == GroupRunning {
		return
	}

	t.say("Its group is %s, and nothing of it is started: %s", v.End.State, v.End)
	if v.End.Reason == EndIntensity {
		for _, at := range v.Restarts {
			t.say("A failure counted: %s", moment(at, t.seen))
		}
	}
	switch {
	case t.s.StoppedBy != "":
		t.say("%s asked for its stop, so it stays stopped when the group runs again", t.s.StoppedBy)
	case t.s.StartInfo != nil:
		t.say("dpl-register --resume lets the group run again, and starts it")
	}
}
