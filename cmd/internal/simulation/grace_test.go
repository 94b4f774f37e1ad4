package simulation

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A mortal is what a frame, a supervisor of an operation or one of a group has for its judgement.
type mortal struct {
	who       string
	process   observe.Process
	promised  bool
	heartbeat time.Time
	beat      observe.Beat
	grace     *observe.Grace
}

// A look is one at a file, by an observer whose monotonic clock tells the age of all that is in it.
type look struct {
	w         *world
	seen      observe.Observation
	threshold time.Duration
	silent    bool // nothing in the file has been heard from for long
	grants    bool // a silence gets a grace from who looks
}

// tells reports whether a monotonic clock tells how old the heartbeat is.
func (m mortal) tells(seen observe.Observation) bool {
	return seen.Sightings == nil && seen.Monotonic(m.heartbeat, m.beat)
}

func (l look) age(b observe.Beat) time.Duration {
	return time.Duration(l.seen.MonotonicMs-b.MonotonicMs) * time.Millisecond
}

// long is "above two thirds" (spec §4.6).
func (l look) long(age time.Duration) bool { return 3*age > 2*l.threshold }

// hears reports whether m has a heartbeat that after has not.
func (m mortal) hears(after mortal) bool {
	return !m.heartbeat.Equal(after.heartbeat) || m.beat != after.beat
}

// sees returns what the observer can tell of the process of m: it lives, it is gone, or neither.
func (l look) sees(m mortal) (lives, gone bool) {
	here := l.seen.Host
	if !m.process.Known() || m.process.HostID != here.ID || m.process.BootID != here.BootID {
		return false, false
	}
	presence := l.seen.Look(m.process)
	return presence == observe.Present, presence == observe.Gone
}

// check returns an error unless the edit from before to after gives m exactly the one window that
// spec §4.6 grants for a silence, declares it dead when that is over, and is not delayed by it if
// its process shows that it is dead. evidence is that of its declaration, or "".
func (l look) check(before, after mortal, evidence observe.Evidence) error {
	if before.hears(after) {
		if after.grace != nil {
			return fmt.Errorf("%s is heard of, and keeps its grace", after.who)
		}
		return nil
	}

	had := before.grace
	if had != nil && !had.Of.Equal(before.heartbeat) {
		had = nil
	}

	lives, gone := l.sees(before)
	judged := !gone && (before.promised || !lives)
	age := l.age(before.beat)

	switch got := after.grace; {
	case had != nil && (got == nil || !got.At.Equal(had.At)):
		return fmt.Errorf("%s gets another grace for one silence, or loses it: %+v, then %+v",
			after.who, had, got)
	case had != nil || got == nil:
	case !l.silent || !l.grants:
		return fmt.Errorf("%s gets a grace, and somebody was heard of", after.who)
	case !judged:
		return fmt.Errorf("%s gets a grace, and is judged by its process", after.who)
	case !l.long(age):
		return fmt.Errorf("%s gets a grace after %v", after.who, age)
	}

	if had != nil && !l.seen.Monotonic(had.At, had.Beat) {
		return nil // another host has granted it, by a clock of its own
	}

	over := had != nil && l.age(had.Beat) > l.threshold
	switch {
	case evidence == observe.Stale && over:
		l.w.did(didGraceOver)
	case evidence == observe.Stale && had != nil:
		return fmt.Errorf("%s is declared dead, stale, within its grace", after.who)
	case evidence == observe.Stale && l.silent && l.grants:
		return fmt.Errorf("%s is declared dead, stale, after a silence of all, without a grace",
			after.who)
	case evidence != "":
	case gone:
		return fmt.Errorf("%s is not declared dead, and its process %d is gone", after.who,
			before.process.PID)
	case judged && age > l.threshold && (after.grace == nil || over):
		return fmt.Errorf("%s is not declared dead, stale, after %v, grace %+v", after.who, age,
			after.grace)
	case had == nil && after.grace != nil:
		l.w.did(didGrace)
	}

	return nil
}

func ofFrame(f *protocol.Frame) mortal {
	return mortal{f.CallID, f.Process, f.Heartbeats, f.LastHeartbeat, f.Beat, f.Grace}
}

func ofSupervisor(s protocol.Supervisor) mortal {
	return mortal{s.ID, s.Process, s.Heartbeats, s.LastHeartbeat, s.Beat, s.Grace}
}

func ofService(s *group.Service) mortal {
	return mortal{s.ID, s.Process, s.Heartbeats, s.LastHeartbeat, s.Beat, s.Grace}
}

// graces checks an edit of an operation, if the clock of its observer tells the ages of everything
// in it. A pop is lenient with its own frames.
func (w *world) graces(before, after protocol.Operation, seen observe.Observation,
	lenient bool) error {
	if before.ID == "" || before.State.Terminal() {
		return nil
	}

	l := look{w: w, seen: seen, threshold: before.StalenessThreshold, silent: true, grants: true}
	note := func(m mortal) (told bool) {
		l.silent = l.silent && l.long(l.age(m.beat))
		return m.tells(seen)
	}

	for _, f := range before.Stack {
		if !note(ofFrame(f)) {
			return nil
		}
	}

	for _, s := range before.Supervisors {
		if !note(ofSupervisor(s)) {
			return nil
		}
	}

	for _, s := range before.Supervisors {
		now, _ := after.Supervisor(s.ID)
		if s.Status != protocol.Alive || s.Process != now.Process {
			continue
		}

		evidence := observe.Evidence("")
		if now.Status == protocol.Dead {
			evidence, _ = before.JudgeSupervisor(s, seen)
		}
		if err := l.check(ofSupervisor(s), ofSupervisor(now), evidence); err != nil {
			return err
		}
	}

	for _, f := range before.Stack {
		now := after.Frame(f.CallID)
		if now == nil || !f.State.Live() || f.Process != now.Process || lenient &&
			now.State.Live() {
			continue
		}

		evidence := observe.Evidence("")
		if now.Crash != nil {
			evidence = now.Crash.Evidence
		}
		if err := l.check(ofFrame(f), ofFrame(now), evidence); err != nil {
			return err
		}
	}

	return nil
}

// groupGraces checks a pass, including one of an owner that takes over, which grants no graces. A
// pass decides by what it has observed.
func (w *world) groupGraces(before, after group.Group, owner string,
	seen observe.Observation) error {
	orchestrator := mortal{heartbeat: before.Orchestrator.Heartbeat, beat: before.Orchestrator.Beat}
	never := orchestrator.heartbeat.IsZero()
	if !never && !orchestrator.tells(seen) {
		return nil
	}

	l := look{w: w, seen: seen, threshold: after.Orchestrator.StalenessThreshold}
	l.silent = never || l.long(l.age(orchestrator.beat))
	l.grants = before.Registry.Owner == "" || before.Registry.Owner == owner

	for i := range after.Registry.Services {
		now := &after.Registry.Services[i]
		old := before.Service(now.ID)
		if old == nil || old.State != group.StateRunning || old.Starting || isGroup(old) ||
			rests(old, seen) ||
			!ofService(old).tells(seen) {
			continue
		}

		evidence := observe.Evidence("")
		if now.LastExit != nil && now.LastExit != old.LastExit {
			evidence = observe.Evidence(now.LastExit.Reason)
		}
		if evidence == "" && (now.State != group.StateRunning || l.awaited(old, now)) {
			continue
		}

		m := ofService(now)
		if evidence != "" { // it may have been started again since
			m = ofService(old)
		}
		if err := l.check(ofService(old), m, evidence); err != nil {
			return err
		}
	}

	return nil
}
