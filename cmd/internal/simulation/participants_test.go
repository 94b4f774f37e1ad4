package simulation

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// participant pushes calls in an operation, beats for them, and pops them, unless it crashes or
// hangs meanwhile.
func participant(op string, more int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range more {
			p := a.newPush(op)
			if !a.pushes(op, p) {
				return
			}
			if !a.works(op, p, w.between(0, 2)) {
				return
			}
		}
	}
}

// newPush returns the arguments of a push of a new call.
func (a *actor) newPush(op string) protocol.Push {
	w := a.w
	w.calls++
	p := protocol.Push{Participant: a.name, Call: fmt.Sprintf("call%d", w.calls), PID: a.p.PID,
		Contained: w.chance(4), Tmp: w.chance(4)}
	if !w.chance(4) {
		p.Process = a.p.Process
	}

	p.Heartbeats = w.chance(4)
	if w.chance(2) {
		p.Supervisor = "S"
		if w.chance(4) {
			p.OrphanPolicy = protocol.OrphanKeep
		}
	}

	if w.chance(2) {
		p.Caller = fmt.Sprintf("call%d", w.calls-1) // as $DPL_CALL says
	}
	if w.chance(5) {
		p.Resources = []string{w.resource(p.Call)}
	}

	return p
}

// resource makes something that is to go if call crashes.
func (w *world) resource(call string) string {
	path := "/data/" + call
	w.resources[call] = false
	w.make(path + "/deep/file")
	return path
}

// pushes pushes p until it is certain whether that is done.
func (a *actor) pushes(op string, p protocol.Push) bool {
	for range 4 {
		switch status := a.push(op, p, a.w.chance(6)); status {
		case cli.StatusOK:
			return true
		case statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCreate, cli.StatusCommitted:
			a.sleep(a.w.between(0, 300))
		default:
			return false
		}
	}

	return false
}

// works beats for a call until that is over, and reports whether a goes on afterwards.
func (a *actor) works(op string, p protocol.Push, nested int) bool {
	w := a.w
	actor := protocol.Actor{Participant: a.name, PID: a.p.PID}
	if w.chance(2) {
		actor.Participant, actor.Call = "", p.Call
	}
	if p.Process.Known() && w.chance(2) {
		actor.Process = p.Process
	}

	for range w.between(0, 4) {
		a.sleep(w.pick3(0, 300, 2500))
		if w.chance(30) {
			w.tell("%s crashes", a.name)
			return false
		}

		say := observe.Report{}
		if w.chance(8) {
			note := fmt.Sprint("note ", w.steps)
			say.Note = &note
		}

		switch status := a.beats(op, actor, say); status {
		case cli.StatusCleanUp:
			a.sleep(w.pick3(0, 0, 500))
			a.beats(op, actor, observe.Report{Cleaning: true})
			return a.pops(op, protocol.Pop{Call: p.Call}) && w.chance(2)
		case cli.StatusCrashed:
			a.pops(op, protocol.Pop{Call: p.Call})
			return false
		case cli.StatusOver, cli.StatusNotFound, cli.StatusRefused:
			return false
		}

		if nested > 0 && w.chance(3) {
			nested--
			q := a.newPush(op)
			if a.pushes(op, q) && !a.works(op, q, 0) {
				return false
			}
		}
	}

	return a.pops(op, protocol.Pop{Call: p.Call, Fail: w.chance(8), KeepOpen: w.chance(8)})
}

// pops pops until it is certain.
func (a *actor) pops(op string, p protocol.Pop) bool {
	for range 4 {
		switch a.pop(op, p) {
		case cli.StatusOK:
			return true
		case statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCommitted:
			a.sleep(a.w.between(0, 300))
		default:
			return false
		}
	}

	return false
}

// pick3 returns one of three numbers: the first most often, the last seldom.
func (w *world) pick3(often, now, seldom int) int {
	switch n := w.r.IntN(10); {
	case n < 5:
		return often
	case n < 9:
		return now
	}
	return seldom
}

// supervisor beats for S and cleans up after its calls.
func supervisor(op string, times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		actor := protocol.Actor{Supervisor: "S", PID: a.p.PID}
		if w.chance(2) {
			actor.Process = a.p.Process
		}

		actor.Heartbeats = w.chance(4)
		for range times {
			a.sleep(w.pick3(300, 50, 2500))
			if w.chance(20) {
				return
			}

			var crashed []string
			if w.chance(2) {
				a.beatsAll(actor)
			} else {
				a.beats(op, actor, observe.Report{})
			}

			a.command("status", false, func(c *command) error {
				found, archived, err := c.read(op)
				if err == nil && !archived {
					for _, f := range found.Reported("S") {
						crashed = append(crashed, f.CallID)
					}
				}
				return err
			})

			switch {
			case len(crashed) == 0:
			case w.chance(2):
				a.ack(op, actor, crashed[:1])
			case w.chance(2):
				a.handles(op, actor, w.chance(3))
			}
		}
	}
}

// janitor makes passes over all operations.
func janitor(times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			a.sleep(a.w.pick3(500, 0, 2500))
			a.cleanup()
		}
	}
}

// bystander aborts, or only reads.
func bystander(op string, times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			a.sleep(a.w.pick3(200, 0, 1000))
			if a.w.chance(3) {
				a.abort(op)
				continue
			}

			a.command("status", false, func(c *command) error {
				_, _, err := c.read(op)
				return err
			})
		}
	}
}
