package simulation

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// epoch is what a clock that is right shows at the beginning of a history.
var epoch = time.Date(2026, 1, 20, 10, 0, 0, 0, time.UTC)

// host is a machine with clocks and processes.
type host struct {
	w         *world
	id        string
	boot      int   // how often it was started
	bootedAt  int64 // by the true time: in a container, when that was booted
	machine   int64 // when its machine was booted
	wall      int64 // how wrong its wall clock is
	suspended int64 // how long it was, since boot
	procs     []*proc
	lastPID   int
}

// proc is a process, dead or alive, as the kernel of its host knows it.
type proc struct {
	observe.Process
	host    *host
	dead    bool
	stage   bool        // it waits behind a gate
	session int         // the pid that leads its session
	role    string      // the supervisor that it is, is a part of, or wants to be
	acts    bool        // it has become that supervisor
	beat    int64       // its last heartbeat, by the true time
	startID string      // "": no pass has started it
	keeper  *proc       // the one that records its end, or nil
	record  string      // the path of the exit record that the keeper writes
	told    int64       // when that was complete, by the true time; 0: it is not
	orderly bool        // its keeper was told to end with it, as the host was shut down
	belied  bool        // its record said that it has ended before it did
	end     policy.Exit // how it has ended: Reason, Code, Status, Error
	program *actor      // nil: it does nothing
}

func (h *host) bootID() string { return fmt.Sprintf("%s-boot%d", h.id, h.boot) }

// monotonic is CLOCK_MONOTONIC in milliseconds: it does not run while the host is suspended.
func (h *host) monotonic() int64 { return 1000 + h.w.now - h.machine - h.suspended }

// uptime is CLOCK_BOOTTIME.
func (h *host) uptime() time.Duration {
	return time.Duration(1000+h.w.now-h.machine) * time.Millisecond
}

func (h *host) wallClock() time.Time {
	return epoch.Add(time.Duration(h.w.now+h.wall) * time.Millisecond)
}

func (h *host) observe() observe.Observation {
	booted := h.bootedAt
	if h.w.bug == bugMachineBoot {
		booted = h.machine
	}
	return observe.Observation{
		Now: h.wallClock(),
		Host: observe.Host{
			ID: h.id, BootID: h.bootID(), PIDNamespace: "1",
			BootedAt: epoch.Add(time.Duration(booted+h.wall) * time.Millisecond),
		},
		MonotonicMs: h.monotonic(),
		Look:        h.look,
	}
}

// find returns the living process that has the number pid, or nil.
func (h *host) find(pid int) *proc {
	for _, p := range h.procs {
		if p.PID == pid && !p.dead {
			return p
		}
	}
	return nil
}

// look is process.Look.
func (h *host) look(p observe.Process) observe.Presence {
	switch {
	case h.exited(p):
		return observe.Gone
	case h.w.bug == bugUnseen, h.w.bug == bugBelieved && h.find(p.PID).belied:
		return observe.Unseen
	}
	return observe.Present
}

// exited is process.Exited.
func (h *host) exited(p observe.Process) bool {
	found := h.find(p.PID)
	if h.w.bug == bugPIDOnly {
		return found == nil
	}
	return found == nil || found.StartTicks != p.StartTicks
}

// is returns the living process that p identifies, or nil.
func (h *host) is(p observe.Process) *proc {
	if p.HostID != h.id || p.BootID != h.bootID() {
		return nil
	}
	found := h.find(p.PID)
	if found == nil || found.StartTicks != p.StartTicks && h.w.bug != bugPIDOnly {
		return nil
	}
	return found
}

// spawn creates a process. Every other time it reuses a free pid, but never within one tick of the
// clock.
func (h *host) spawn(leader *proc) *proc {
	h.lastPID++
	pid := h.lastPID
	ticks := (1000 + h.w.now - h.machine) / 10
	if h.w.chance(2) {
		for _, old := range h.procs {
			if old.dead && h.find(old.PID) == nil && h.latest(old.PID) < ticks {
				pid = old.PID
				h.lastPID--
				h.w.did(didReusePID)
				break
			}
		}
	}

	p := &proc{
		Process: observe.Process{PID: pid, HostID: h.id, BootID: h.bootID(), PIDNamespace: "1",
			StartTicks: ticks},
		host: h, session: pid,
	}

	if leader != nil {
		p.session, p.role, p.acts, p.startID = leader.session, leader.role, leader.acts, leader.startID
	}

	h.procs = append(h.procs, p)

	return p
}

// latest returns when the last process with the number pid was started.
func (h *host) latest(pid int) (ticks int64) {
	for _, p := range h.procs {
		if p.PID == pid {
			ticks = max(ticks, p.StartTicks)
		}
	}
	return ticks
}

// kill ends a process by SIGKILL, and what it does.
func (p *proc) kill() {
	p.ends(policy.Exit{Reason: policy.Exited, Code: policy.CodeKilled, Status: int(syscall.SIGKILL)})
	if p.program != nil {
		p.program.kill()
	}
}

// ends makes p end so. Its keeper sees it.
func (p *proc) ends(end policy.Exit) {
	if p.dead {
		return
	}

	p.dead, p.end = true, end
	if p.keeper != nil && !p.keeper.dead {
		p.host.w.ended = append(p.host.w.ended, p)
	}
}

// exits makes p end by itself.
func (p *proc) exits(status int) {
	p.ends(policy.Exit{Reason: policy.Exited, Code: policy.CodeExited, Status: status})
}

// shutDown lets keepers record how services end, as in an orderly shutdown of the host.
func (h *host) shutDown() {
	for _, p := range h.procs {
		if p.keeper != nil && !p.keeper.dead && !p.dead && p.acts && !p.belied {
			p.dead, p.orderly = true, true
			p.end = policy.Exit{Reason: policy.Exited, Code: policy.CodeKilled,
				Status: int(syscall.SIGTERM)}
			p.recordEnd(&simfs.Process{Disk: h.w.disk})
		}
	}
}

// crash ends all processes of a host and starts it again. A container keeps the clock of its
// machine.
func (h *host) crash() {
	for _, p := range h.procs {
		p.kill()
	}
	h.procs = slices.Delete(h.procs, 0, len(h.procs))
	h.boot++
	h.lastPID = 100
	if h.w.kind.container {
		h.w.now += int64(h.w.between(1, 3000))
		h.bootedAt = h.w.now
		return
	}
	h.starts()
}

// starts starts the machine.
func (h *host) starts() { h.bootedAt, h.machine, h.suspended = h.w.now, h.w.now, 0 }
