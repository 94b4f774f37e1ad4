package protocol

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// The world of TestMachine: hosts with their clocks, processes with pids that are reused, and what
// really happens to each call and supervisor. It does not call the code under test.

// simHost is a machine: its clocks and its boot.
type simHost struct {
	id       string
	boots    int
	bootedAt time.Time
	wall     time.Time
	mono     int64 // milliseconds awake since the boot
}

func (h *simHost) bootID() string { return fmt.Sprintf("%s-boot%d", h.id, h.boots) }

// awake lets time pass, asleep lets it pass while the host is suspended.
func (h *simHost) awake(d time.Duration) {
	h.wall, h.mono = h.wall.Add(d),
		h.mono+d.Milliseconds()
}
func (h *simHost) asleep(d time.Duration) { h.wall = h.wall.Add(d) }

// place is a pid namespace of a host: where a command runs, and what it can see.
type place struct {
	*simHost
	namespace string
	started   map[int]int64 // start ticks of the living processes
}

func (p *place) reboot() {
	p.started = make(map[int]int64)
}

// run returns the live process with the given pid, and starts it if there is none. It returns the
// zero Process for pid 0.
func (p *place) run(pid int, ticks *int64) observe.Process {
	if pid == 0 {
		return observe.Process{}
	}
	if p.started[pid] == 0 {
		*ticks++
		p.started[pid] = *ticks
	}
	return observe.Process{PID: pid, HostID: p.id, BootID: p.bootID(), PIDNamespace: p.namespace,
		StartTicks: p.started[pid]}
}

// seen returns the observation of a command that runs here. If blind, it has no monotonic clock, as
// with --now.
func (p *place) seen(blind bool) observe.Observation {
	seen := observe.Observation{
		Now: p.wall, MonotonicMs: p.mono,
		Host: observe.Host{ID: p.id, BootID: p.bootID(), PIDNamespace: p.namespace,
			BootedAt: p.bootedAt},
		Look: func(q observe.Process) observe.Presence {
			return vectors.Presence(p.started[q.PID] != q.StartTicks)
		},
	}

	if blind {
		seen.MonotonicMs = 0
	}
	return seen
}

// pulse is the truth about a call or a supervisor: its process, and when it was heard of last.
type pulse struct {
	process observe.Process // zero: it never said
	promise bool            // it promised to send heartbeats
	host    *simHost
	boot    string
	mono    int64 // 0: the sender of the heartbeat was blind
	wall    time.Time
	grace   *pulse // when a fresh window was granted since; nil: it was not
}

// beat is a heartbeat from p of now, by process if there was none.
func (u *pulse) beat(p *place, blind bool) {
	u.host, u.boot, u.mono, u.wall, u.grace = p.simHost, p.bootID(), p.mono, p.wall, nil
	if blind {
		u.mono = 0
	}
}

// gone is spec §4.2 without staleness: it returns why an observer at p knows that the process has
// ended, or "".
func (u *pulse) gone(p *place) observe.Evidence {
	q := u.process
	switch {
	case q == observe.Process{} || q.HostID != p.id:
		return ""
	case q.BootID != p.bootID() && u.wall.Before(p.bootedAt):
		return observe.Rebooted
	case q.BootID == p.bootID() && q.PIDNamespace == p.namespace &&
		p.started[q.PID] != q.StartTicks:
		return observe.Exited
	}

	return ""
}

// age returns how long u has been silent for an observer at p, without sleep or changes of the
// clock, within one boot.
func (u *pulse) age(p *place, blind bool) time.Duration {
	if u.awakeAge(p, blind) {
		return time.Duration(p.mono-u.mono) * time.Millisecond
	}
	return p.wall.Sub(u.wall)
}

func (u *pulse) awakeAge(p *place, blind bool) bool {
	return u.host == p.simHost && u.boot == p.bootID() && u.mono != 0 && !blind
}

// verdict is all of spec §4.2, for the default threshold.
func (u *pulse) verdict(p *place, blind bool) observe.Evidence {
	if evidence := u.gone(p); evidence != "" {
		return evidence
	}
	if q := u.process; q.HostID == p.id && q.BootID != p.bootID() &&
		u.age(p, blind) < -DefaultStalenessThreshold {
		return observe.Rebooted
	}
	if u.present(p) && !u.promise || !u.older(p, blind, DefaultStalenessThreshold) ||
		u.grace != nil && !u.grace.older(p, blind, DefaultStalenessThreshold) {
		return ""
	}
	return observe.Stale
}

// older reports whether u has been silent for longer than d, or has a heartbeat in the future.
func (u *pulse) older(p *place, blind bool, d time.Duration) bool {
	age := u.age(p, blind)
	return age > d || age < -d
}

// quiet reports whether u was not heard of for two thirds of the threshold.
func (u *pulse) quiet(p *place, blind bool) bool {
	return u.older(p, blind, 6_666*time.Millisecond)
}

// grant gives u, which lives as far as the file tells, a fresh window, if it needs one (spec §4.6).
func (u *pulse) grant(p *place, blind, heard bool) {
	if u.grace == nil && u.quiet(p, blind) && (heard ||
		u.older(p, blind, DefaultStalenessThreshold)) && u.gone(p) == "" &&
		(!u.present(p) || u.promise) {
		u.grace = &pulse{}
		u.grace.beat(p, blind)
	}
}

// present reports whether an observer at p sees that the process is alive.
func (u *pulse) present(p *place) bool {
	q := u.process
	return q != (observe.Process{}) && q.HostID == p.id && q.BootID == p.bootID() &&
		q.PIDNamespace == p.namespace &&
		p.started[q.PID] == q.StartTicks
}

// foreign reports whether process is certainly another one than that of u.
func (u *pulse) foreign(process observe.Process) bool {
	return u.process != (observe.Process{}) && process != (observe.Process{}) && u.process != process
}
