package testscripts

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A clockWorld is a machine whose clocks a test sets, with its processes.
type clockWorld struct {
	rand      *rand.Rand
	wall      time.Time
	monotonic time.Duration // since boot, without the time it was suspended
	suspended time.Duration
	boot      int
	lastPID   int
	dead      map[observe.Process]bool
	story     []string // what happened, for messages
}

func newClockWorld(seed uint64) *clockWorld {
	return &clockWorld{
		rand: rand.New(rand.NewPCG(seed, 0)), wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		monotonic: 2 * time.Hour,
		dead:      make(map[observe.Process]bool),
	}
}

// startObserved returns what a command sees.
func (w *clockWorld) observe() observe.Observation {
	return observe.Observation{
		Now: wire.Moment(w.wall),
		Host: observe.Host{
			ID: "0123456789abcdef", BootID: fmt.Sprint("boot", w.boot), PIDNamespace: "1",
			BootedAt: w.wall.Add(-w.monotonic - w.suspended),
		},
		MonotonicMs: w.monotonic.Milliseconds(),
		Look: func(p observe.Process) observe.Presence {
			if w.dead[p] {
				return observe.Gone
			}
			return observe.Present
		},
	}
}

// start returns a process that begins now.
func (w *clockWorld) start() observe.Process {
	w.lastPID++
	host := w.observe().Host
	ticks := (w.monotonic + w.suspended).Milliseconds() / 10
	return observe.Process{PID: w.lastPID, HostID: host.ID, BootID: host.BootID,
		PIDNamespace: host.PIDNamespace, StartTicks: ticks}
}

func (w *clockWorld) pass(d time.Duration) {
	w.wall, w.monotonic = w.wall.Add(d), w.monotonic+d
}

// upset does to the clocks what people, time servers and lids do.
func (w *clockWorld) upset() {
	before := w.wall
	switch what := w.rand.IntN(7); what {
	case 0:
		w.wall = w.wall.Add(time.Hour)
	case 1:
		w.wall = w.wall.Add(-time.Hour)
	case 2:
		w.wall = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	case 3:
		w.wall = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	case 4:
		w.wall = w.wall.Add(time.Duration(w.rand.IntN(2000)-1000) * time.Millisecond)
	default:
		w.wall, w.suspended = w.wall.Add(time.Hour), w.suspended+time.Hour
		w.tell("suspended for an hour")
		return
	}

	w.tell("clock set by %v", w.wall.Sub(before))
}

// reboot ends all processes.
func (w *clockWorld) reboot() {
	w.boot++
	w.wall = w.wall.Add(time.Minute)
	w.monotonic, w.suspended = time.Second, 0
	w.tell("reboot")
}

func (w *clockWorld) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%v: ", w.monotonic)+fmt.Sprintf(format, args...))
	w.story = w.story[max(0, len(w.story)-20):]
}
