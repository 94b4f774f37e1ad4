package view

import (
	"github.com/dpl-project/dpl/protocol"
)

// A Supervisor is a supervisor of an operation, as judged now.
type Supervisor struct {
	protocol.Supervisor
	Judgement
	op *Operation
}

// JudgedSupervisors returns the supervisors of op.
func (op Operation) JudgedSupervisors() (all []Supervisor) {
	for _, v := range op.Supervisors {
		live := v.Status == protocol.Alive
		j := judge(v.Vitals, op.StalenessThreshold, live, op.Seen)
		j.GraceUntil = op.WindowOfSupervisor(v, op.Seen)
		all = append(all, Supervisor{v, j, &op})
	}
	return all
}

// missingSupervisors returns the supervisors that calls of op name, and op does not have.
func (op Operation) missingSupervisors() (all []Supervisor) {
	known := map[string]bool{"": true}
	for _, v := range op.Supervisors {
		known[v.ID] = true
	}

	for _, f := range op.Stack {
		if id := f.SupervisorID; !known[id] {
			known[id] = true
			all = append(all, Supervisor{protocol.Supervisor{ID: id, Status: "missing"},
				Judgement{Verdict: "dead"}, &op})
		}
	}

	return all
}

// Details returns facts about v and its calls, worded to follow "supervisor ID ".
func (v Supervisor) Details() (all []string) {
	if window := v.Window(); window != "" {
		all = append(all, "is "+window)
	}

	for _, f := range v.op.Stack {
		if f.SupervisorID != v.ID {
			continue
		}

		text := "supervises " + f.CallID
		if f.SupervisorHandle != "" {
			text += ` as "` + f.SupervisorHandle + `"`
		}

		switch {
		case f.State == protocol.FrameCrashed && v.Status == protocol.Alive:
			text += ", which has crashed and waits for it"
		case !f.State.Live():
			text += ", which has crashed"
		}

		all = append(all, text)
	}

	return all
}
