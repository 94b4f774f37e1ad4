package cli

import (
	"fmt"
	"os"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// A GroupEdit is the result of an edit of one group.
type GroupEdit struct{ fileops.Edit[protocol.Group] }

// EditGroup applies verb to the group id. With --dry-run it prints the change instead.
func (env *Env) EditGroup(l *fileops.Ledger, id string, mode fileops.Mode, verb fileops.Verb[protocol.Group]) (GroupEdit, error) {
	edit, err := l.EditGroup(id, env.mode(mode), verb)
	env.committed = env.committed || err == nil && edit.Changed() && !env.DryRun()
	if err == nil && edit.Changed() && env.DryRun() && !env.JSON() {
		env.PrintGroupDiff(edit.Before, edit.After)
	}
	return GroupEdit{edit}, err
}

// PrintGroupDiff prints the difference between the registries of two groups.
func (env *Env) PrintGroupDiff(before, after protocol.Group) {
	env.printDiff(fileops.SupervisorsName(after.ID), before.Registry.Encode(), after.Registry.Encode())
}

// Result returns the JSON that every edit of a group prints for service, or for all if service is
// "".
func (e GroupEdit) Result(service string) Object {
	o := Object{
		{"groupId", e.After.ID}, {"supervisorId", OrNull(service)}, {"revision", e.After.Registry.Revision}, {"changed", e.Changed()},
	}

	if s := e.After.Service(service); s != nil {
		return append(o, stateOf(s)...)
	}
	if service != "" {
		return o
	}

	rows := []Object{}
	for i := range e.After.Registry.Services {
		s := &e.After.Registry.Services[i]
		rows = append(rows, append(Object{{"supervisorId", s.ID}}, stateOf(s)...))
	}

	return append(o, Member{"supervisors", rows})
}

func stateOf(s *protocol.Service) Object {
	return Object{{"state", string(s.State)}, {"pid", PIDOrNull(s.PID)}}
}

// PIDOrNull returns pid, or nil for 0.
func PIDOrNull(pid int) any {
	if pid == 0 {
		return nil
	}
	return pid
}

// CheckGroupTrust returns an error for a shared ledger, to which other members of the group can
// write, unless --trust-group is given.
func (env *Env) CheckGroupTrust(l *fileops.Ledger) error {
	if !l.Config().Shared || env.TrustsGroup() {
		return nil
	}
	return fmt.Errorf("%w: %s is shared: it would run commands that others write: give --trust-group", fileops.ErrPermission, l.Dir())
}

// DefaultOwner returns the owner of a pass without --owner: this user on this host.
func DefaultOwner() string { return process.Here().ID + ":" + strconv.Itoa(os.Getuid()) }
