package model

import "github.com/dpl-project/dpl/protocol"

// A Supervisor is a supervisor of an operation, as judged now.
type Supervisor struct {
	protocol.Supervisor
	Judgement
	Op *Operation
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

// MissingSupervisors returns the supervisors that calls of op name, and op does not have.
func (op Operation) MissingSupervisors() (all []Supervisor) {
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
