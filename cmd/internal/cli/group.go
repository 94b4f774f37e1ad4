package cli

import (
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
)

// EditGroup applies verb to the group id, or in a dry run prints the change.
func (env *Env) EditGroup(l *fileops.Ledger, id string, mode fileops.Mode,
	verb fileops.Verb[group.Group]) (session.GroupEdit, error) {
	edit, err := env.Session.EditGroup(l, id, mode, verb)
	if err == nil && edit.Changed() && env.DryRun() && !env.JSON() {
		env.PrintGroupDiff(edit.Before, edit.After)
	}
	return edit, err
}

// PrintGroupDiff prints the difference between the registries of two groups.
func (env *Env) PrintGroupDiff(before, after group.Group) {
	env.printDiff(layout.SupervisorsName(after.ID), before.Registry.Encode(),
		after.Registry.Encode())
}

// GroupResult returns the result of an edit of a group that every command prints: of service, or of
// all services if that is "".
func GroupResult(e session.GroupEdit, service string) Object {
	o := Object{
		{"groupId", e.After.ID}, {"supervisorId", OrNull(service)},
		{"revision", e.After.Registry.Revision}, {"changed", e.Changed()},
	}

	if s := e.After.Service(service); s != nil {
		return append(o, stateOf(s)...)
	}
	if service != "" {
		return o
	}

	rows := []Object{}
	for _, s := range e.After.Registry.Services {
		rows = append(rows, append(Object{{"supervisorId", s.ID}}, stateOf(&s)...))
	}

	return append(o, Member{"supervisors", rows})
}

func stateOf(s *group.Service) Object {
	return Object{{"state", s.State}, {"pid", OrNull(s.PID)}}
}
