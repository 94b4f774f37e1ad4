package queue

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"pgregory.net/rapid"
)

// world is a host with processes and clocks.
type world struct {
	wall  time.Time
	mono  int64 // milliseconds since it was booted
	boot  int
	ticks int64         // start time of the process that was started last
	alive map[int]int64 // pid → start time
	calls map[string]CallState
}

func newWorld() *world {
	w := &world{wall: time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC), alive: make(map[int]int64),
		calls: make(map[string]CallState)}
	w.reboot()
	return w
}

func (w *world) bootID() string { return fmt.Sprint("boot-", w.boot) }

func (w *world) reboot() {
	w.boot++
	w.mono = 60_000
	w.wall = w.wall.Add(time.Minute)
	clear(w.alive)
}

// run returns the living process pid, which it starts if there is none.
func (w *world) run(pid int) observe.Process {
	if w.alive[pid] == 0 {
		w.ticks++
		w.alive[pid] = w.ticks
	}
	return observe.Process{PID: pid, HostID: "h1", BootID: w.bootID(), PIDNamespace: "1",
		StartTicks: w.alive[pid]}
}

// place is from where a queue is looked at.
type place string

const (
	here      place = "here"
	blind     place = "here, without a monotonic clock"
	elsewhere place = "another host"
)

// seen returns what an observer at p sees.
func (m *machine) seen(p place) Seen {
	w := m.w
	seen := Seen{Observation: observe.Observation{
		Now: w.wall, MonotonicMs: w.mono,
		Host: observe.Host{ID: "h1", BootID: w.bootID(), PIDNamespace: "1",
			BootedAt: w.wall.Add(-wire.Milliseconds(w.mono))},
		Look: func(p observe.Process) observe.Presence {
			if w.alive[p.PID] == p.StartTicks {
				return observe.Present
			}
			return observe.Gone
		},
	}}

	switch p {
	case blind:
		seen.MonotonicMs = 0
	case elsewhere:
		seen.Host = observe.Host{ID: "h2", BootID: "z", PIDNamespace: "1", BootedAt: w.wall}
		seen.MonotonicMs = 0
	}

	seen.Call = func(_, call string) CallState { return w.calls[call] }
	seen.Past = func(id string) (Ended, bool) {
		r, ok := m.past[id]
		return r.Ended, ok
	}
	return seen
}

// claimer is who makes an attempt.
type claimer struct {
	Claimer
	started int // the boot in which its process was started
}

// over returns how an observer at p finds that a has ended, or "".
func (m *machine) over(a *attempt, p place) End {
	w := m.w
	gone := func(q observe.Process) End {
		switch {
		case !q.Known() || p == elsewhere:
			return ""
		case q.BootID == w.bootID() && w.alive[q.PID] != q.StartTicks:
			return Crashed
		case q.BootID != w.bootID() && a.wall.Before(w.wall.Add(-wire.Milliseconds(w.mono))):
			return Rebooted
		}
		return ""
	}

	end := gone(a.Process)
	if end != "" && (!a.Keeper.Known() || gone(a.Keeper) != "") {
		return end
	}

	checked := p != elsewhere && a.Process.Known() && a.Process.BootID == w.bootID()
	if !checked && a.Call != "" && (w.calls[a.Call] == CallCrashed || w.calls[a.Call] == CallOver) {
		return Crashed
	}
	if a.Deadline > 0 && m.age(a, p) >= a.Deadline {
		return TimedOut
	}
	return ""
}

// age returns how old a is for an observer at p.
func (m *machine) age(a *attempt, p place) time.Duration {
	if p == here && !a.blind && a.boot == m.w.boot {
		return wire.Milliseconds(m.w.mono - a.mono)
	}
	return m.w.wall.Sub(a.wall)
}

// Changes of the world.

func one[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

func (m *machine) exit(t *rapid.T) { delete(m.w.alive, one(t, "pid", 1, 2, 3, 4)) }

func (m *machine) passTime(t *rapid.T) {
	ms := one[int64](t, "time", 1, 999, 1000, 1001, 2000, 5000)
	m.w.mono += ms
	m.w.wall = m.w.wall.Add(wire.Milliseconds(ms))
}

func (m *machine) setClock(t *rapid.T) {
	m.w.wall = m.w.wall.Add(one(t, "step", time.Second, time.Hour, -time.Second, -10*time.Minute))
}

func (m *machine) reboot(t *rapid.T) {
	if one(t, "reboot", 0, 0, 0, 1) == 1 {
		m.w.reboot()
	}
}

func (m *machine) endCall(t *rapid.T) {
	m.w.calls[one(t, "call", "m", "n")] = one(t, "state", CallOpen, CallOpen, CallOver, CallCrashed)
}
