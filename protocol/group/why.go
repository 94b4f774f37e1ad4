package group

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Explanation says in sentences why a service is in its state, and what happens next.
type Explanation struct {
	Facts []string  // the rules and numbers that apply to it, and what they have decided
	Now   []string  // what a pass would do now; empty: nothing
	At    time.Time // when a later pass would do something else; zero: that is not known
	Then  []string  // what that pass would do
}

// Why explains the service id. What happens next is asked of the pass itself. It returns
// ErrNoService, or the error of that pass.
func (g Group) Why(id string, seen observe.Observation) (why Explanation, err error) {
	s := g.Service(id)
	if s == nil {
		return why, ErrNoService
	}

	why.Facts = slices.Concat(g.history(id, seen), g.rules(s, seen))
	after, now, err := g.foresee(id, seen)
	if err != nil || after.Service(id) == nil {
		return why, err
	}

	why.Now = now
	if started := after.Service(id).Starting; started {
		return why, nil // nobody knows yet how that goes
	}

	for _, at := range after.turns(id, seen) {
		later := after
		later.Orchestrator.Heartbeat, later.Orchestrator.Beat = at, observe.Beat{}
		if _, then, err := later.foresee(id, seen.Later(at)); err == nil && len(then) > 0 {
			why.At, why.Then = at, then
			break
		}
	}

	return why, nil
}

// foresee returns g after the decision of a pass of its owner, and what that does about a service.
func (g Group) foresee(id string, seen observe.Observation) (Group, []string, error) {
	d, err := g.Pass(PassRequest{Owner: cmp.Or(g.Registry.Owner, id)}, seen)
	if err != nil {
		return g, nil, err
	}

	after := d.Group()
	var all []string
	for _, e := range after.Registry.Events {
		if e.Revision > g.Registry.Revision && e.SupervisorID == id {
			all = append(all, change(e))
		}
	}

	for _, a := range d.Actions {
		switch a := a.(type) {
		case Start:
			if a.ServiceID == id {
				all = append(all, fmt.Sprintf("start it, attempt %d, because of: %s", a.Attempt,
					a.Reason))
			}
		case Signal:
			if a.ServiceID == id {
				all = append(all, fmt.Sprintf("send %s to its %s, %d", a.Name, a.To, a.PID))
			}
		}
	}

	if s := after.Service(id); s != nil && s.BlockedBy != "" {
		all = append(all, "not start it, blocked by "+s.BlockedBy)
	}

	return after, all, nil
}

// change returns what the event e says.
func change(e observe.Event) string {
	text := fmt.Sprintf("%s → %s", cmp.Or(e.From, "new"), cmp.Or(e.To, "removed"))
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// turns returns the times after now at which the same facts may lead to another decision about a
// service, in order.
func (g Group) turns(id string, seen observe.Observation) []time.Time {
	s := g.Service(id)
	all := []time.Time{s.NextAttemptAt}
	if !s.TermSentAt.IsZero() {
		all = append(all, wire.Later(s.TermSentAt, s.KillTimeout))
	}
	if !s.LastHeartbeat.IsZero() { // it is stale after more than the threshold
		all = append(all, wire.Later(s.LastHeartbeat,
			g.Orchestrator.StalenessThreshold+time.Millisecond))
	}

	all = append(all, s.clockTurns(seen)...)
	all = slices.DeleteFunc(all, func(t time.Time) bool { return !t.After(seen.Now) })
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// history returns the last changes of a service, as far as the registry has them.
func (g Group) history(id string, seen observe.Observation) (all []string) {
	const most = 5
	for _, e := range g.Registry.Events {
		if e.SupervisorID == id && e.Type == observe.SupervisorState {
			all = append(all, fmt.Sprintf("%s: %s, by %s.", moment(e.At, seen), change(e),
				cmp.Or(e.By, "-")))
		}
	}
	return all[max(len(all)-most, 0):]
}

// moment returns the time t, and how far it is from now.
func moment(t time.Time, seen observe.Observation) string {
	text, ago := t.UTC().Format(time.RFC3339), seen.Now.Sub(t).Round(time.Millisecond)
	if ago < 0 {
		return fmt.Sprintf("%s, in %v", text, -ago)
	}
	return fmt.Sprintf("%s, %v ago", text, ago)
}

// rules returns what applies to s in its state.
func (g Group) rules(s *Service, seen observe.Observation) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch s.State {
	case StateRegistered, StateWaiting:
		g.sayDependencies(s, seen, say)
	case StateRunning:
		g.sayRunning(s, seen, say)
	case StateFailed, StateScheduled:
		sayFailed(s, seen, say)
	case StateShuttingDown:
		sayStopping(s, seen, say)
	default:
		say("It is %s: no pass starts it again. dpl-restart does, or dpl-register.", s.State)
	}

	if s.LastExit != nil {
		class := ""
		if s.LastExit.Class != "" {
			class = fmt.Sprintf(", which counts as %s", s.LastExit.Class)
		}
		say("Its last process ended %s: %s%s.", moment(s.LastExit.At, seen), s.LastExit, class)
	}
	if s.StartInfo != nil {
		sayPolicy(s, say)
	}

	return all
}

func (g Group) sayDependencies(s *Service, seen observe.Observation, say func(string, ...any)) {
	var waits []string
	for _, d := range s.Dependencies {
		switch on := g.Service(d); {
		case on == nil:
			waits = append(waits, fmt.Sprintf("%s, which is not registered", d))
		case !g.ready(on, seen):
			waits = append(waits, fmt.Sprintf("%s, which is %s, %s", d, on.State,
				cmp.Or(string(g.dead(on, seen)), string(on.Notice.Readiness))))
		}
	}

	for _, d := range s.DependenciesCompleted {
		if on := g.Service(d); on == nil || on.State != StateCompleted {
			waits = append(waits, d+", which has not completed")
		}
	}

	if len(waits) > 0 {
		say("It waits for %s.", strings.Join(waits, "; "))
	} else {
		say("All it depends on is ready: the next pass starts it.")
	}
}

func (g Group) sayRunning(s *Service, seen observe.Observation, say func(string, ...any)) {
	if !s.StartedAt.IsZero() {
		say("A pass started it %s.", moment(s.StartedAt, seen))
	}

	sayClocks(s, seen, say)
	evidence, age := g.JudgeService(s, seen)
	switch age = age.Round(time.Millisecond); {
	case evidence != "":
		say("There is evidence that it is dead: %s.", evidence)
	case s.alive(seen) && !s.Heartbeats:
		say("Its process, %d, exists, and it promised no heartbeats.", s.PID)
	default:
		say("Its last heartbeat is %v old; after %v it counts as stale.", age,
			g.Orchestrator.StalenessThreshold)
	}
}

func sayFailed(s *Service, seen observe.Observation, say func(string, ...any)) {
	say("It failed %s.", moment(s.FailedAt, seen))
	if s.StopFor != nil {
		say("Passes stop it for %s; then: %s.", s.StopFor, s.StopFor.Then)
	}
	if !s.NextAttemptAt.IsZero() {
		say("Its next start is due %s: %v after the failure.", moment(s.NextAttemptAt, seen),
			s.NextAttemptAt.Sub(s.FailedAt))
	}
	if !s.TermSentAt.IsZero() {
		say("What is left of it got TERM %s.", moment(s.TermSentAt, seen))
	}
}

func sayStopping(s *Service, seen observe.Observation, say func(string, ...any)) {
	say("It was asked to stop %s.", moment(s.StopRequestedAt, seen))
	if !s.TermSentAt.IsZero() {
		say("It got TERM %s, and gets KILL after %v.", moment(s.TermSentAt, seen), s.KillTimeout)
	}
	switch {
	case s.StartAgain:
		say("When it has stopped, it is started again.")
	case s.RemoveAfterStop:
		say("When it has stopped, it is removed.")
	}
}

func sayPolicy(s *Service, say func(string, ...any)) {
	if !s.Restartable {
		say("It is not restarted after a failure.")
		return
	}
	p, most := s.policy(), "any number"
	if p.MaxAttempts != Unlimited {
		most = fmt.Sprintf("at most %d", p.MaxAttempts)
	}
	say("It is %s. Restarts so far: %d of %s; after %v of running they are counted from 0 again.",
		cmp.Or(s.Restart, Permanent), s.RestartAttempts, most, p.ResetAfter)
	if s.Retries > 0 {
		say("Besides, %d restarts that are not charged.", s.Retries)
	}
}
