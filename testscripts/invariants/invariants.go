// Package invariants checks what holds for the services of every group, on entry and exit of each
// verb that a test makes.
package invariants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Broken names each invariant of ServiceStatus and ServiceRecovery that a service of g
// breaks; "": none. Verbs keep them: if the group before a verb breaks none, the one after it
// breaks none either.
func Broken(g group.Group) string { return broken(g, g) }

// broken is Broken, given the group before a verb: the verb that ends a maintenance leaves what follows
// to the next pass.
func broken(g, before group.Group) string {
	var broken []string
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		for name, holds := range invariants(s) {
			if !holds {
				broken = append(broken, fmt.Sprintf("%s is %s: not so: %s", s.ID, s.State, name))
			}
		}
	}

	v := g.Registry.Supervision
	if !slices.IsSortedFunc(v.Restarts, time.Time.Compare) {
		broken = append(broken, "charges of the group are not in order")
	}
	if len(v.Restarts) > 0 && v.Limit.Period == 0 {
		broken = append(broken, "the group is charged without a limit")
	}

	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		// A pass does nothing about a service whose keeper has yet to say how it ended (spec
		// §19.3), nor about one in a maintenance (§30.4).
		old := before.Service(s.ID)
		rests := s.Maintenance != nil || old != nil && old.Maintenance != nil &&
			g.Orchestrator.Revision == before.Orchestrator.Revision
		stops := rests || !s.GoneSince.IsZero() || s.State.Final() ||
			s.State == group.StateShuttingDown || s.StopFor != nil || !s.TermSentAt.IsZero()
		if v.End.State == group.GroupEnding && v.End.Reason != policy.EndRequested && !stops {
			broken = append(broken, s.ID+" is not being stopped, but its group ends")
		}
		// What a dead one has left may be stopped later.
		if v.End.State == group.GroupEnded && !s.State.Final() &&
			s.State != group.StateShuttingDown {
			broken = append(broken, s.ID+" is not over, but its group has ended")
		}
	}
	if (v.End.State == group.GroupEnded) == v.End.At.IsZero() {
		broken = append(broken, "a group has ended at a time")
	}

	for _, id := range v.Set {
		if s := g.Service(id); s == nil || s.State == group.StateRunning || s.State.Final() {
			broken = append(broken, id+" is in the set, but does not wait to start")
		}
	}

	slices.Sort(broken)
	return strings.Join(broken, "\n")
}

// Check makes a verb of g, and returns what it returns. It calls fail if the verb breaks an
// invariant that g keeps, or changes g.
func Check(fail func(format string, args ...any), g group.Group,
	verb func(group.Group) (group.Group, error)) (group.Group, error) {
	entry := Broken(g)
	after, err := verb(g)
	if exit := broken(after, g); entry == "" && exit != "" {
		fail("a verb breaks invariants:\n%s", exit)
	}
	if again := Broken(g); again != entry {
		fail("a verb changes the group it was given:\n%s", again)
	}
	return after, err
}

func invariants(s *group.Service) map[string]bool {
	is := func(states ...group.ServiceState) bool { return slices.Contains(states, s.State) }
	final := s.State.Final()
	started, term := !s.StartedAt.IsZero(), !s.TermSentAt.IsZero()
	isGroup := s.StartInfo != nil && s.StartInfo.Group != ""
	failed, due := !s.FailedAt.IsZero(), !s.NextAttemptAt.IsZero()

	const (
		registered, waiting, running = group.StateRegistered, group.StateWaiting, group.StateRunning
		justFailed, scheduled        = group.StateFailed, group.StateScheduled
		shuttingDown                 = group.StateShuttingDown
	)
	return map[string]bool{
		"a running service has a heartbeat":   !is(running) || !s.LastHeartbeat.IsZero(),
		"a stopped service has no heartbeat":  !is(group.StateStopped) || s.LastHeartbeat.IsZero(),
		"a stopped service has no start":      !is(group.StateStopped) || !started,
		"a start needs a command":             !started || s.StartInfo != nil,
		"an attempt belongs to a start":       started || s.Attempt == 0,
		"a startId belongs to a start":        started || s.StartID == "",
		"a keeper belongs to a start":         started || s.Keeper == observe.Process{},
		"startedWith belongs to a start":      started || s.StartedWith == nil,
		"starting belongs to a start":         started || !s.Starting,
		"starting is running or shuttingDown": !s.Starting || is(running, shuttingDown),
		"what failed or is over has not run": s.RunningSince.IsZero() ||
			is(running, shuttingDown, registered, waiting),
		"an end that was told belongs to a pid": s.Ended == nil || s.PID != 0 || isGroup,
		"an attempt was made at a time": s.RestartAttempts == 0 ||
			!s.LastRestartAttempt.IsZero(),
		"a failed service failed at a time": !is(justFailed, scheduled) || failed,
		"a stop forgets when it failed":     !failed || !is(group.StateStopped, shuttingDown),
		"a scheduled service is due":        !is(scheduled) || due,
		"what is due has failed":            !due || failed,
		"an end forgets what is due":        !due || !final && !is(shuttingDown),
		"a pending restart waits":           !s.RestartPending || is(waiting) && due,
		"what is blocked has yet to start": s.BlockedBy == "" ||
			is(registered, waiting, justFailed, scheduled) || isGroup && is(running),
		"what restarts for another waits":       s.RestartCause == "" || is(waiting, scheduled),
		"a stop was asked for iff shuttingDown": s.StopRequestedAt.IsZero() == !is(shuttingDown),
		"only a process was paused": s.PID != 0 || !s.LastHeartbeat.IsZero() ||
			s.Paused == nil && s.PausedFor == 0,
		"only what stops was stopped by somebody": s.StoppedBy == "" ||
			is(shuttingDown, group.StateStopped),
		"a significant service is not permanent":   !s.Significant || s.Restart != policy.Permanent,
		"only shuttingDown is started again":       !s.StartAgain || is(shuttingDown),
		"only shuttingDown is to be removed":       !s.RemoveAfterStop || is(shuttingDown),
		"what is to be removed is not started":     !s.RemoveAfterStop || !s.StartAgain,
		"passes stop only what has failed or must": s.StopFor == nil || is(justFailed, scheduled, running),
		"running, dead and stopped got no TERM":    !term || !is(running) && !final,
		"the beat of a TERM belongs to one":        term || s.TermSentBeat == observe.Beat{},
		"the beat of progress belongs to some":     !s.ProgressAt.IsZero() || s.ProgressBeat == observe.Beat{},
		"the beat of a start belongs to one":       started || s.StartedBeat == observe.Beat{},
		"a completed service may complete": !is(group.StateCompleted) || s.LastExit != nil &&
			s.LastExit.Class == policy.Success && s.Restart != policy.Permanent,
		"a completed service has not failed":      !is(group.StateCompleted) || !failed,
		"a row of persistent ends has a last one": s.PersistentRow == 0 || s.LastExit != nil,
	}
}
