package explain

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// OperationTroubles returns what is wrong with op.
func OperationTroubles(op model.Operation) (all []Trouble) {
	var lost []string
	var crashed, lingering []model.Call
	late := op.Lingering(op.Seen.Now)
	for _, c := range op.Calls() {
		switch {
		case !c.State.Live() && c.State == protocol.FrameCrashed:
			crashed = append(crashed, c)
		case !c.State.Live():
		case c.Dead():
			lost = append(lost, fmt.Sprintf("%s (%s)", c.CallID, c.Verdict))
		case c.Verdict == "stopped":
			all = append(all, stoppedTrouble("call "+c.CallID, c.PID))
		case slices.Contains(late, c.Frame):
			lingering = append(lingering, c)
		}
	}

	if op.State == protocol.Failed {
		all = append(all, failedTrouble(op))
	}
	if len(lost) > 0 {
		all = append(all, Trouble{Rank: ByDeath, Mood: "bad",
			What: "no pass has found yet that these calls are dead: " + Some(lost),
			Cures: []Cure{{Command("dpl-cleanup", "--op", op.ID),
				"declares them crashed, and cleans up"}}})
	}
	if len(crashed) > 0 {
		all = append(all, crashedTrouble(op, crashed))
	}
	if len(lingering) > 0 {
		all = append(all, lingeringTrouble(op, lingering))
	} else if op.State == protocol.Cleanup && len(crashed) == 0 {
		all = append(all, Trouble{Rank: ByWaiting, Mood: "warn", What: "has failed, and " +
			Plural(len(op.Stack)-op.Crashed(), "call") + " may still clean up" + reason(op)})
	}
	return all
}

// reason returns why op has left its first state, after a colon.
func reason(op model.Operation) string {
	if len(op.Transitions) == 0 || Why(op.Transitions[0]) == "" {
		return ""
	}
	return ": " + Why(op.Transitions[0])
}

// failedTrouble tells why op has failed. It is over, and nothing has to be done about it.
func failedTrouble(op model.Operation) Trouble {
	t := Trouble{Rank: ByDeath, Mood: "bad", What: "failed",
		More: []Cure{{Command("dpl-watch", "--op", op.ID), "prints how it came to that"}}}
	n := len(op.Transitions)
	if n == 0 {
		return t
	}

	t.What += " " + Ago(op.Seen.Now.Sub(op.Transitions[n-1].At)) + reason(op)
	cause := op.Transitions[0].Cause
	if cause != nil && slices.ContainsFunc(op.Events, func(e observe.Event) bool {
		return e.CallID == cause.Call
	}) {
		call := cause.Call
		t.More = slices.Insert(t.More, 0, Cure{Command("dpl-status", "--op", op.ID, "--why", call),
			"tells how " + call + " ended"})
	}
	return t
}

// crashedTrouble tells what has crashed in op, and what that waits for.
func crashedTrouble(op model.Operation, crashed []model.Call) Trouble {
	t := Trouble{Rank: ByDeath, Mood: "bad"}
	var names []string
	for _, c := range crashed {
		names = append(names, fmt.Sprintf("%s (%s)", c.CallID, c.Verdict))
	}
	t.What = Plural(len(crashed), "call") + " crashed: " + Some(names)

	const most = 3 // are listed with their supervisors
	supervised := 0
	for _, c := range crashed {
		v, known := op.Supervisor(c.SupervisorID)
		if !known || v.Status == protocol.Dead || !isID(c.SupervisorID) {
			continue
		}
		if supervised++; supervised <= most {
			t.Cures = append(t.Cures, Cure{Command("dpl-cleanup", "--op", op.ID, "--supervisor",
				c.SupervisorID, "--ack", c.CallID), "says that " + c.SupervisorID + " has cleaned up"})
		}
	}
	if supervised == 0 {
		t.Cures = append(t.Cures, Cure{Command("dpl-cleanup", "--op", op.ID),
			"finds out whether those who should clean up are alive"})
	}
	t.More = []Cure{{Command("dpl-status", "--op", op.ID, "--why", crashed[0].CallID),
		"shows the evidence"}}
	return t
}

func lingeringTrouble(op model.Operation, late []model.Call) Trouble {
	t := Trouble{Rank: ByWaiting, Mood: "warn"}
	var names []string
	for _, c := range late {
		names = append(names, c.CallID)
	}
	t.What = "asked to clean up long ago, and still open: " + Some(names)
	t.Cures = []Cure{{Command("dpl-pop", "--op", op.ID, "--call", names[0]),
		"ends the call if its participant does not"}}
	return t
}

func stoppedTrouble(name string, pid int) Trouble {
	return Trouble{Rank: ByWaiting, Mood: "warn",
		What:  fmt.Sprintf("%s is stopped: process %d does not run", name, pid),
		Cures: []Cure{{"kill -CONT " + strconv.Itoa(pid), "continues it"}}}
}

// CallCures returns the commands that end the trouble of a call, if it has one.
func CallCures(c model.Call) []Cure {
	switch {
	case c.State == protocol.FrameCrashed:
		return crashedTrouble(*c.Op, []model.Call{c}).Cures
	case c.State.Live() && c.Dead():
		return []Cure{{Command("dpl-cleanup", "--op", c.Op.ID), "declares it crashed, and cleans up"}}
	}
	return nil
}
