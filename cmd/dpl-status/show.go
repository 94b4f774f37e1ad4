package main

import (
	"errors"
	"io"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

type reporter struct {
	env    *cli.Env
	ledger *fileops.Ledger
	clock  func() protocol.Observation
}

// A subject is what to show: an operation, a group, or, if both are "", all operations and groups.
type subject struct{ op, supervisor, group, service string }

// A picture is a drawing of a subject, and the errors of its files.
type picture struct {
	text     string
	over     string // the final state of the operation; "" if it goes on
	warnings []error
}

// status returns the exit status for the warnings.
func (p picture) status() int {
	worst := cli.StatusOK
	for _, err := range p.warnings {
		worst = cli.Worse(worst, cli.StatusOf(err))
	}
	return worst
}

// show prints the subject.
func (s *reporter) show(what subject) error {
	p, err := s.draw(what, screen())
	if err != nil {
		return err
	}

	for _, err := range p.warnings {
		s.env.Warnf("%v", err)
	}

	io.WriteString(s.env.Stdout, p.text)
	return cli.Exit(p.status())
}

// draw draws the subject in style.
func (s *reporter) draw(what subject, style view.Style) (p picture, err error) {
	switch {
	case what.group != "":
		var g view.Group
		if g, err = s.readGroup(what.group, what.service); err == nil {
			p.text = style.Group(g, what.service)
		}
	case what.supervisor != "":
		var calls []view.Call
		if calls, p.warnings, err = s.callsOf(what.op, what.supervisor); err == nil {
			p.text = style.Calls(calls)
		}
	case what.op != "":
		var op view.Operation
		if op, err = s.read(what.op); err == nil {
			p.text = style.Operation(op)
			if op.Archived || op.State.Terminal() {
				p.over = string(op.State)
			}
		}
	default:
		var ops []view.Operation
		if ops, p.warnings, err = s.readAll(""); err != nil {
			return p, err
		}
		groups, unread, err := s.readGroups()
		if err != nil {
			return p, err
		}
		p.text, p.warnings = style.Ledger(ops, groups), append(p.warnings, unread...)
	}

	return p, err
}

// read returns the operation id, which may be archived.
func (s *reporter) read(id string) (op view.Operation, err error) {
	op.Operation, op.Archived, err = s.ledger.ReadOperation(id)
	if err != nil {
		return op, cli.Named("status", id, "", err)
	}
	op.Seen, _ = s.ledger.ObserveOperation(op.Operation, s.clock())
	return op, nil
}

// readAll returns the operation id, or if id is "", all operations that are not archived and can be
// read, with an error for each other one.
func (s *reporter) readAll(id string) (ops []view.Operation, warnings []error, err error) {
	if id != "" {
		op, err := s.read(id)
		return []view.Operation{op}, nil, err
	}

	ids, err := s.ledger.IDs()
	if err != nil {
		return nil, nil, err
	}

	for _, id := range ids {
		op, err := s.read(id)
		switch {
		case op.Archived || errors.Is(err, fileops.ErrNotFound):
		case err != nil:
			warnings = append(warnings, err)
		default:
			ops = append(ops, op)
		}
	}

	return ops, warnings, nil
}

// json prints the subject as one JSON document.
func (s *reporter) json(what subject) error {
	switch {
	case what.group != "":
		return s.group(what.group, what.service)
	case what.supervisor != "":
		return s.calls(what.op, what.supervisor)
	case what.op != "":
		return s.operation(what.op)
	}

	return s.everything()
}

// everything prints all groups and all operations that are not archived, as JSON.
func (s *reporter) everything() error {
	ops, warnings, err := s.readAll("")
	if err != nil {
		return err
	}

	groups, unread, err := s.readGroups()
	if err != nil {
		return err
	}

	results := []cli.Object{}
	for _, op := range ops {
		results = append(results, cli.Object{
			{"operationId", op.ID}, {"state", string(op.State)},
			{"revision", op.Revision},
			{"calls", len(op.Stack)}, {"crashed", op.Crashed()},
			{"ageMs", op.Seen.Now.Sub(op.LastHeartbeat).Milliseconds()},
		})
	}

	return s.print(cli.Object{
		{"operations", results}, {"groups", inShort(groups)},
	}, append(warnings, unread...))
}

// print prints one JSON document and the warnings.
func (s *reporter) print(o cli.Object, warnings []error) error {
	for _, err := range warnings {
		s.env.Warnf("%v", err)
	}
	s.env.PrintJSON(o)
	return cli.Exit(picture{warnings: warnings}.status())
}

// operation prints one operation as JSON: its file, and how it would be judged now.
func (s *reporter) operation(id string) error {
	op, err := s.read(id)
	if err != nil {
		return err
	}

	supervisors := []cli.Object{}
	for _, v := range op.Supervisors {
		evidence, age := op.JudgeSupervisor(v, op.Seen)
		supervisors = append(supervisors, cli.Object{
			{"supervisorId", v.ID}, {"pid", v.PID},
			{"status", string(v.Status)},
			{"ageMs", age.Milliseconds()},
			{"verdict", view.Verdict(v.Status == protocol.Alive, evidence, nil,
				op.Seen.Stopped(v.PID, v.Process))},
			{"graceUntil", stampOrNull(op.WindowOfSupervisor(v, op.Seen))},
		})
	}

	return s.print(cli.Object{
		{"operation", jsontext.Value(op.Encode())},
		{"archived", op.Archived},
		{"calls", frames(op)}, {"supervisors", supervisors},
	}, nil)
}

func frames(op view.Operation) []cli.Object {
	objects := []cli.Object{}
	for _, f := range op.Stack {
		objects = append(objects, frame(op, f))
	}
	return objects
}

func frame(op view.Operation, f *protocol.Frame) cli.Object {
	evidence, age := op.Judge(f, op.Seen)
	return cli.Object{
		{"callId", f.CallID}, {"callerId", cli.OrNull(f.CallerID)},
		{"participantId", f.ParticipantID}, {"pid", f.PID},
		{"state", string(f.State)},
		{"readiness", string(f.Said().Readiness)},
		{"note", f.Said().Note},
		{"ageMs", age.Milliseconds()},
		{"supervisorId", cli.OrNull(f.SupervisorID)},
		{"supervisorHandle", cli.OrNull(f.SupervisorHandle)},
		{"verdict", view.Verdict(f.State.Live(), evidence, f.Crash,
			op.Seen.Stopped(f.PID, f.Process))},
		{"graceUntil", stampOrNull(op.WindowOf(f, op.Seen))},
	}
}
