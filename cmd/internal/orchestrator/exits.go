package orchestrator

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// recordPatience is how long a pass waits in all for records that keepers are writing. A keeper
// needs a few milliseconds, unless its disk is slow.
const recordPatience = time.Second

// These are about systems other than Linux.
var (
	errNoPreflight = errors.New("preflight: there is no keeper to say how it ends: " +
		"register the service without one, or start it on Linux")
	errNoFinish = errors.New("finish: there is no keeper to run it: " +
		"register the service without one, or start it on Linux")
)

// Exits returns the exit records of g to an edit that sees seen. A record that is being written
// comes late for this pass if nobody waits for it, and the next pass may be far away.
func (o *Orchestrator) Exits(g group.Group, seen observe.Observation) group.ExitLookup {
	var until time.Duration
	o.unread = nil
	return func(service, startID string) (group.ExitRecord, bool) {
		for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
			x, found := o.exit(service, startID)
			now := o.machine().Uptime()
			if until == 0 {
				until = now + recordPatience
			}

			s := g.Service(service)
			if !found || !s.Writing(x, seen) || now > until {
				return x, found
			}
			if o.machine().Exited(s.Keeper) { // it may have completed the record since we read it
				return o.exit(service, startID)
			}
			o.machine().Pause(pause)
		}
	}
}

// exit returns the exit record of a start of a service (spec §19).
func (o *Orchestrator) exit(service, startID string) (group.ExitRecord, bool) {
	x, found, err := o.Ledger.ReadExit(o.Group, service, startID)
	switch {
	case x.Unreadable:
		o.unread = fmt.Errorf("%q stays as it is: exit record: %w", service, err)
	case err != nil:
		o.Env.Warnf("%s: exit record of %q: %v", o.Group, service, err)
	}
	return x, found
}

// Unread returns why an exit record could not be read since Exits was called last, or nil.
func (o *Orchestrator) Unread() error { return o.unread }

// reserve makes room for the exit record of the start a, whose process waits at gate. Without a
// keeper no one would write it, run a finish command, or say how a preflight ends. If it cannot,
// the process ends.
func (o *Orchestrator) reserve(gate Gate, s *group.Service, a plan.Start, startID string) error {
	if gate.Keeper() == (observe.Process{}) {
		switch {
		case s.StartInfo.Preflight != nil:
			return errors.Join(errNoPreflight, gate.Cancel())
		case s.StartInfo.Finish != nil:
			return errors.Join(errNoFinish, gate.Cancel())
		}
		return nil
	}

	_, err := o.Ledger.ReserveExit(o.Group, group.ExitRecord{
		ServiceID: a.ServiceID, StartID: startID, Attempt: a.Attempt,
		PID: gate.Process().PID, Process: gate.Process(), Phase: group.PhaseReserved,
	})
	if err != nil {
		err = errors.Join(fmt.Errorf("exit record: %w", err), gate.Cancel())
	}

	return err
}
