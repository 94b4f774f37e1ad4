package explain

import (
	"cmp"
	"fmt"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

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
	case e.s.State == group.StateDead && why != policy.NoGiveUp:
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
func (e *service) gaveUp(why policy.GiveUp) string {
	s, p := e.s, e.f.Policy
	switch why {
	case policy.NotRestartable:
		return "it is not restartable"
	case policy.OnlyOnce:
		return "it is temporary, and those are started once"
	case policy.EndedForGood:
		return "its last end is terminal: a restart would end in the same way"
	case policy.SameEnd:
		return fmt.Sprintf("%d ends in a row were persistent, and the second is final", s.PersistentRow)
	case policy.MostAttempts:
		return fmt.Sprintf("%s, and it may have %d", Plural(s.RestartAttempts, "attempt"), p.MaxAttempts)
	case policy.MostEnds:
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
	case s.Restart == policy.Temporary:
		e.say("It is temporary: however it ends, no pass starts it again")
		return
	case s.Restart == policy.Transient:
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
	case most != policy.Unlimited && s.RestartAttempts >= most:
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
	if p.MaxAttempts != policy.Unlimited {
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

	temporary := e.s.Restart == policy.Temporary
	switch {
	case strategy == policy.OneForAll && temporary:
		e.say("The strategy of the group is %s: a failure of another stops it for good", strategy)
		return
	case strategy == policy.OneForAll:
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

	follows := map[policy.OnIntensity]string{
		policy.Escalate: "it ends",
		policy.Park:     "the services that failed are dead",
		policy.Delay:    "restarts wait until the oldest of them no longer counts",
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
	if v.End.Reason == policy.EndIntensity {
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
