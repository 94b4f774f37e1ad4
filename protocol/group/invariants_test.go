package group

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// brokenInvariants names each invariant of ServiceStatus and ServiceRecovery that a service of g
// breaks; "": none. Verbs keep them: if the group before a verb breaks none, the one after it
// breaks none either.
func brokenInvariants(g Group) string {
	var broken []string
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		for name, holds := range s.invariants() {
			if !holds {
				broken = append(broken, fmt.Sprintf("%s is %s: not so: %s", s.ID, s.State, name))
			}
		}
	}

	slices.Sort(broken)
	return strings.Join(broken, "\n")
}

func (s *Service) invariants() map[string]bool {
	is := func(states ...ServiceState) bool { return slices.Contains(states, s.State) }
	started, term := !s.StartedAt.IsZero(), !s.TermSentAt.IsZero()
	failed, due := !s.FailedAt.IsZero(), !s.NextAttemptAt.IsZero()

	const (
		registered, waiting, running = StateRegistered, StateWaiting, StateRunning
		justFailed, scheduled        = StateFailed, StateScheduled
		shuttingDown                 = StateShuttingDown
	)
	return map[string]bool{
		"a running service has a heartbeat":   !is(running) || !s.LastHeartbeat.IsZero(),
		"a stopped service has no heartbeat":  !is(StateStopped) || s.LastHeartbeat.IsZero(),
		"a stopped service has no start":      !is(StateStopped) || !started,
		"a start needs a command":             !started || s.StartInfo != nil,
		"an attempt belongs to a start":       started || s.Attempt == 0,
		"a startId belongs to a start":        started || s.StartID == "",
		"a keeper belongs to a start":         started || s.Keeper == observe.Process{},
		"startedWith belongs to a start":      started || s.StartedWith == nil,
		"starting belongs to a start":         started || !s.Starting,
		"starting is running or shuttingDown": !s.Starting || is(running, shuttingDown),
		"what failed or is over has not run": s.RunningSince.IsZero() ||
			is(running, shuttingDown, registered, waiting),
		"an end that was told belongs to a pid": s.Ended == nil || s.PID != 0,
		"an attempt was made at a time": s.RestartAttempts == 0 ||
			!s.LastRestartAttempt.IsZero(),
		"a failed service failed at a time": !is(justFailed, scheduled) || failed,
		"a stop forgets when it failed":     !failed || !is(StateStopped, shuttingDown),
		"a scheduled service is due":        !is(scheduled) || due,
		"what is due has failed":            !due || failed,
		"an end forgets what is due":        !due || !s.State.final() && !is(shuttingDown),
		"a pending restart waits":           !s.RestartPending || is(waiting) && due,
		"what is blocked has yet to start": s.BlockedBy == "" ||
			is(registered, waiting, justFailed, scheduled),
		"a stop was asked for iff shuttingDown": s.StopRequestedAt.IsZero() == !is(shuttingDown),
		"only shuttingDown is started again":    !s.StartAgain || is(shuttingDown),
		"running, dead and stopped got no TERM": !term || !is(running) && !s.State.final(),
		"the beat of a TERM belongs to one":     term || s.TermSentBeat == observe.Beat{},
	}
}

// A group that breaks an invariant is found out.
func TestBrokenInvariants(t *testing.T) {
	g := Create("g")
	s := newService("s")
	s.State, s.StartAgain = StateScheduled, true
	g.Registry.Services = []Service{s}
	want := []string{"a failed service failed", "a scheduled service is due", "only shuttingDown"}
	got := strings.Split(brokenInvariants(g), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}

	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}
