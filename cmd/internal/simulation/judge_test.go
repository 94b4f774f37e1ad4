package simulation

import (
	"fmt"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// judge returns an error unless everything that an edit declares dead has been silent for long, or
// is dead.
func (w *world) judge(id string, before, after protocol.Operation,
	seen observe.Observation) error {
	for _, s := range after.Supervisors {
		old, known := before.Supervisor(s.ID)
		if !known || old.Status != protocol.Alive || s.Status != protocol.Dead {
			continue
		}

		if evidence, _ := before.JudgeSupervisor(old, seen); evidence != "" {
			if err := w.judgeOne(id+"/"+s.ID, evidence, old.Process, old.Heartbeats, before,
				seen); err != nil {
				return err
			}
		}
	}

	for _, f := range after.Stack {
		old := before.Frame(f.CallID)
		if old == nil || !old.State.Live() || f.State != protocol.FrameCrashed {
			continue
		}
		w.did(didEvidence[f.Crash.Evidence])
		if err := w.judgeOne(f.CallID, f.Crash.Evidence, old.Process, old.Heartbeats, before,
			seen); err != nil {
			return err
		}
	}

	return nil
}

func (w *world) judgeOne(who string, evidence observe.Evidence, p observe.Process, promised bool,
	op protocol.Operation, seen observe.Observation) error {
	switch evidence {
	case observe.Exited, observe.Rebooted:
		if w.lives(p) {
			return fmt.Errorf("%s is declared dead, %s, and its process %d lives", who, evidence,
				p.PID)
		}
	case observe.Stale:
		if !promised && p.HostID == seen.Host.ID && w.lives(p) {
			return fmt.Errorf("%s is declared dead, stale, and its process %d lives here", who,
				p.PID)
		}
		b, ok := w.beats[who]
		if !ok || b.boot != b.host.boot {
			return nil
		}
		if age := w.age(b, seen); age <= op.StalenessThreshold.Milliseconds() {
			return fmt.Errorf("%s is declared dead, stale, %d ms after its heartbeat was "+
				"acknowledged", who, age)
		}
	}

	return nil
}

// lives reports whether p is a process that lives.
func (w *world) lives(p observe.Process) bool {
	for _, h := range w.hosts {
		if h.id == p.HostID && h.bootID() == p.BootID {
			found := h.find(p.PID)
			return found != nil && found.Process == p && !found.stage
		}
	}
	return false
}

// age returns the greatest age of a heartbeat for an observer: on the same host, by its monotonic
// clock; on another, the true time plus the difference of the clocks.
func (w *world) age(b beat, seen observe.Observation) int64 {
	switch {
	case b.host.id == seen.Host.ID:
		return b.host.monotonic() - b.monotonic
	case w.kind.lease:
		return w.now - b.now
	}
	return w.now - b.now + skew
}
