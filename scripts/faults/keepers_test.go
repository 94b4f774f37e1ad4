//go:build linux

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/rig"
	"golang.org/x/sys/unix"
)

// A round is this many services of one group. Each of them has a keeper that is killed.
const perRound = 60

// TestKeepers kills keepers at random times, many of them while they record an end. The services
// end in different ways. Passes know how each of them ended, or that nobody knows (spec §19); a
// keeper that was not hit has told it. With DPL_SOAK, it kills 3000 keepers.
func TestKeepers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	choose := chooser(t)
	rounds := 2
	if rig.Soak() {
		rounds = 3000 / perRound
	}

	w := newWorld(t, build.Commands(t, root), modes[0])
	w.starts = true
	known, unknown, spared := 0, 0, 0
	for round := 0; round < rounds || unknown == 0 && round < 4*rounds; round++ {
		w.reset(t)
		ends := w.registerEnding(t, choose)
		onExit := []string{"none", "pass"}[round%2]
		if got := w.run(at(1, "dpl-orchestrate --group g --on-exit "+onExit)); got.status != 0 {
			t.Fatal(got)
		}

		hit := w.strikeKeepers(t, choose)
		for id, s := range w.over(t) {
			switch why := ends[id].compare(s); {
			case why != "":
				t.Errorf("%s, with a keeper that was killed: %v: %s", id, hit[id], why)
			case s.LastExit.Code != "":
				known++
			case !hit[id]:
				t.Errorf("%s: its keeper was not killed, and it has ended: %v", id, s.LastExit)
			default:
				unknown++
			}
			if !hit[id] {
				spared++
			}
		}
	}

	t.Logf("%d keepers; the end of the service is known %d times, and unknown %d times; %d keepers "+
		"had ended before", known+unknown, known, unknown, spared)
	if known == 0 || unknown == 0 {
		t.Error("the times are badly chosen")
	}
}

// A plannedEnd is how a service ends.
type plannedEnd struct {
	code   policy.ExitCode
	status int
	finish string // how its finish command does; "": it has none
}

// registerEnding registers the services of a round.
func (w *world) registerEnding(t *testing.T, choose *rand.Rand) map[string]plannedEnd {
	t.Helper()
	type object = map[string]any
	ends, services := make(map[string]plannedEnd), make(object)
	for i := range perRound {
		end := plannedEnd{policy.CodeExited, i % 4 * 50, ""}
		how := fmt.Sprintf("exit %d", end.status)
		if i%5 == 0 {
			end.code, end.status = policy.CodeKilled, []int{9, 10, 15}[i%3]
			how = fmt.Sprintf("kill -%d $$", end.status)
		}

		start := object{"command": "sh", "args": []string{"-c",
			fmt.Sprintf("sleep 0.%03d; %s", choose.IntN(200), how)}}
		if i%3 == 0 {
			end.finish = fmt.Sprint(i % 8)
			start["finish"] = []string{"sh", "-c", "exit " + end.finish}
		}
		id := fmt.Sprintf("s%02d", i)
		ends[id] = end
		services[id] = object{"restart": "temporary", "startInfo": start}
	}

	text, err := json.Marshal(object{"supervisors": services})
	file := filepath.Join(w.base, "res", "services.json")
	if err := errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	got := w.run(at(0, "dpl-register --group g --no-pass --file $res/services.json"))
	if got.status != 0 {
		t.Fatal(got)
	}
	return ends
}

// strikeKeepers kills each keeper once: half of them at any time, the others soon after the end of
// the service. It returns those that it found.
func (w *world) strikeKeepers(t *testing.T, choose *rand.Rand) map[string]bool {
	t.Helper()
	var all sync.WaitGroup
	var found sync.Mutex
	hit := make(map[string]bool)
	services := w.services(t)
	for i := range services {
		s := &services[i]
		after := time.Duration(choose.Int64N(int64(250 * time.Millisecond)))
		soon := i%2 == 0
		if soon {
			after = time.Duration(choose.Int64N(int64(12 * time.Millisecond)))
		}

		all.Go(func() {
			keeper, err := unix.PidfdOpen(s.Keeper.PID, 0)
			if err != nil {
				return
			}
			defer unix.Close(keeper)
			if ticks, _ := proc.StartTicks(s.Keeper.PID); ticks != s.Keeper.StartTicks {
				return
			}

			if leader, err := unix.PidfdOpen(s.PID, 0); err == nil && soon {
				unix.Poll([]unix.PollFd{{Fd: int32(leader), Events: unix.POLLIN}}, -1)
				unix.Close(leader)
			}
			<-time.After(after)
			if unix.PidfdSendSignal(keeper, unix.SIGKILL, nil, 0) == nil {
				found.Lock()
				hit[s.ID] = true
				found.Unlock()
			}
		})
	}

	all.Wait()
	return hit
}

// over makes passes until all services are over, and returns them.
func (w *world) over(t *testing.T) map[string]*group.Service {
	t.Helper()
	seconds, done := 1, make(map[string]*group.Service)
	poll.Until(t, "all services are over", func() bool {
		seconds++
		w.run(at(seconds, "dpl-orchestrate --group g"))
		services := w.services(t)
		for i := range services {
			if s := &services[i]; s.State.Final() {
				done[s.ID] = s
			}
		}
		return len(done) == perRound
	})
	return done
}

// services returns the services of the group.
func (w *world) services(t *testing.T) []group.Service {
	t.Helper()
	text, err := os.ReadFile(w.file("g.supervisors.json"))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := group.DecodeRegistry(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return registry.Services
}

// compare says what is wrong about what passes say of a service that ended like that, or "".
func (e plannedEnd) compare(s *group.Service) string {
	x := s.LastExit
	success := e.code == policy.CodeExited && e.status == 0 ||
		e.code == policy.CodeKilled && e.status == int(unix.SIGTERM)
	switch {
	case x == nil:
		return "it is over, and has not ended"
	case x.Code == "":
		if s.State != group.StateDead || x.FinishStatus != "" {
			return fmt.Sprintf("%s, though nobody knows how it ended: %v", s.State, x)
		}
	case x.Code != e.code || x.Status != e.status:
		return fmt.Sprintf("it has %v, want %+v", x, e)
	case (s.State == group.StateCompleted) != success:
		return fmt.Sprintf("it is %s after %v", s.State, x)
	case x.FinishStatus != "" && x.FinishStatus != e.finish &&
		(e.finish == "" || x.FinishStatus != policy.FinishUnknown):
		return fmt.Sprintf("its finish command has %q, want %q", x.FinishStatus, e.finish)
	}
	return ""
}
