package simulation

import (
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// leaseFor is how long the file server keeps the locks of a client that it does not hear of.
const leaseFor = 10_000

// pass lets time pass, and things happen.
func (w *world) pass() {
	w.steps++
	if w.calm {
		w.now++
		return
	}

	w.now += int64(w.r.IntN(w.step + 1))
	w.expire()
	if w.steps == w.eventAt {
		w.eventAt = w.steps + w.between(50, 600)
		w.event()
	}
}

// expire takes locks away whose leases are over, and ends stages whose pass is gone.
func (w *world) expire() {
	for _, a := range w.actors {
		if w.kind.lease && a.paused > 0 && !a.expired && a.cmd != nil && a.cmd.fs.HoldsLock() &&
			w.now-a.paused > leaseFor {
			w.tell("the lease of %s is over", a.name)
			w.did(didExpire)
			a.expired = true
			a.cmd.fs.Expire()
		}
	}

	w.endStages()
}

// endStages ends those whose time has come.
func (w *world) endStages() {
	kept := w.dying[:0]
	for _, d := range w.dying {
		if d.at > w.now {
			kept = append(kept, d)
		} else if d.p.stage {
			d.p.kill()
		}
	}

	w.dying = kept
}

// event is what happens to a whole host, or to all.
func (w *world) event() {
	h := w.hosts[w.r.IntN(len(w.hosts))]
	switch n := w.r.IntN(8); {
	case n < 3 && w.kind.powerLoss:
		w.losePower()
	case n < 5 && w.kind.hostCrash:
		w.tell("%s crashes", h.id)
		w.did(didHostCrash)
		if w.kind.container && w.chance(2) {
			w.did(didShutDown)
			h.shutDown()
		}
		h.crash()
		w.kind.again(w, h)
	case n < 6 && w.kind.clockSteps:
		by := int64(w.between(-90_000, 90_000))
		w.tell("the clock of %s is set by %d ms", h.id, by)
		w.did(didClockStep)
		h.wall += by
		w.setBack += max(0, -by)
	case n < 7 && w.kind.clockSteps:
		w.suspendHost(h, int64(w.between(1000, 100_000)))
	case n == 7 && w.kind.container:
		w.belie(h)
	}
}

// belie completes the record of a process that lives, as if only the machine had been set back to
// an earlier state, and not the ledger.
func (w *world) belie(h *host) {
	for _, p := range h.procs {
		x, err := p.recorded()
		if p.dead || !p.acts || p.keeper == nil || err != nil || x.Phase != group.PhaseExec {
			continue
		}
		p.belied = true
		p.end = policy.Exit{Reason: policy.Exited, Code: policy.CodeExited}
		p.recordEnd(&simfs.Process{Disk: w.disk})
		w.tell("the record of %d says that it has ended", p.PID)
		w.did(didBelie)
		return
	}
}

// losePower ends everything, and what was not fsynced.
func (w *world) losePower() {
	w.tell("power is lost")
	w.did(didPowerLoss)
	w.powerLost = true
	for _, h := range w.hosts {
		h.crash()
	}

	w.disk.PowerLoss(w.r)
	for _, l := range w.operations {
		l.lostPower()
	}

	for _, g := range w.groups {
		g.lostPower()
	}
	w.endsTaken = map[int64]bool{}

	w.now += int64(w.between(1000, 30_000))
	for _, h := range w.hosts {
		h.starts()
		w.kind.again(w, h)
	}
}

// suspendHost stops a host for a while, and its monotonic clock.
func (w *world) suspendHost(h *host, ms int64) {
	w.tell("%s is suspended for %d ms", h.id, ms)
	w.did(didSuspend)
	for _, a := range w.actors {
		if a.p.host == h {
			a.wake = max(a.wake, w.now) + ms
		}
	}

	w.now += ms
	h.suspended += ms
}

// pause stops a for a long time in the middle of an edit.
func (w *world) pause(a *actor) {
	if w.kind.pauses == 0 || a.cmd == nil || !a.cmd.fs.HoldsLock() || !w.chance(w.kind.pauses) {
		return
	}
	a.expired = false
	a.paused, a.wake = w.now, w.now+int64(w.between(2000, 40_000))
	w.tell("%s is stopped until %d", a.name, a.wake-100_000)
	w.did(didPause)
}
