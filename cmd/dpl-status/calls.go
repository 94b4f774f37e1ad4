package main

import (
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

// A supervised is a supervised call with its operation.
type supervised struct {
	op    view.Operation
	frame *protocol.Frame
}

// supervisedBy returns the calls of a supervisor sorted by handle, in the operation id, or in all
// if id is "".
func (s *reporter) supervisedBy(id,
	supervisor string) (calls []supervised, warnings []error, err error) {
	ops, warnings, err := s.readAll(id)
	if err != nil {
		return nil, nil, err
	}

	for _, op := range ops {
		for _, f := range op.Stack {
			if f.SupervisorID == supervisor {
				calls = append(calls, supervised{op, f})
			}
		}
	}

	slices.SortStableFunc(calls, func(a, b supervised) int {
		return cmp.Compare(cmp.Or(a.frame.SupervisorHandle, "-"),
			cmp.Or(b.frame.SupervisorHandle, "-"))
	})

	return calls, warnings, nil
}

// callsOf returns the calls of a supervisor for drawing.
func (s *reporter) callsOf(id, supervisor string) (drawn []view.Call, warnings []error, err error) {
	calls, warnings, err := s.supervisedBy(id, supervisor)
	for _, c := range calls {
		evidence, age := c.op.Judge(c.frame, c.op.Seen)
		drawn = append(drawn, view.Call{
			Operation: c.op.ID, Handle: c.frame.SupervisorHandle, Call: c.frame.CallID,
			Participant: c.frame.ParticipantID,
			State:       string(c.frame.State), Age: view.Ago(age),
			Verdict: view.Verdict(c.frame.State.Live(), evidence, c.frame.Crash,
				c.op.Seen.Stopped(c.frame.PID, c.frame.Process)),
		})
	}

	return drawn, warnings, err
}

// calls prints the calls of a supervisor as JSON.
func (s *reporter) calls(id, supervisor string) error {
	calls, warnings, err := s.supervisedBy(id, supervisor)
	if err != nil {
		return err
	}

	results := []cli.Object{}
	for _, c := range calls {
		results = append(results, append(cli.Object{{"operationId", c.op.ID}},
			frame(c.op, c.frame)...))
	}
	return s.print(cli.Object{{"supervisorId", supervisor},
		{"calls", results}}, warnings)
}
