package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// A GroupEdit is what came of an edit of one group.
type GroupEdit struct {
	Before, After protocol.Group
	Changed       bool
}

// A GroupVerb is a verb of the protocol on a group, with its arguments bound, but for the observation.
type GroupVerb func(g protocol.Group, seen protocol.Observation) (protocol.Group, error)

// EditGroup makes verb's change of the group id; with --dry-run it prints the change, and makes none.
func (env *Env) EditGroup(l *fileops.Ledger, id string, mode fileops.Mode, verb GroupVerb) (edit GroupEdit, err error) {
	clock := env.GroupClock()
	if env.DryRun() {
		return env.rehearseGroup(l, id, mode, verb)
	}
	err = l.EditGroup(id, mode, func(tx *fileops.GroupTx) error {
		edit.Before = tx.Group()
		after, err := verb(edit.Before, tx.Observe(clock()))
		if edit.After = after; err != nil {
			return err
		}
		if edit.Changed = after.Registry.Revision != edit.Before.Registry.Revision; !edit.Changed {
			return nil
		}
		err = tx.Commit(after)
		env.committed = env.committed || err == nil
		return err
	})
	return edit, err
}

// rehearseGroup does what EditGroup would, without a lock, on a copy, and prints the difference.
func (env *Env) rehearseGroup(l *fileops.Ledger, id string, mode fileops.Mode, verb GroupVerb) (edit GroupEdit, err error) {
	edit.Before, err = protocol.CreateGroup(id), fileops.ErrNoGroup
	if l != nil {
		edit.Before, err = l.ReadGroup(id)
	}
	if mode&fileops.OrCreate != 0 && errors.Is(err, fileops.ErrNoGroup) {
		edit.Before, err = protocol.CreateGroup(id), nil
	}
	if err != nil {
		return edit, err
	}
	seen := env.GroupClock()()
	if l != nil {
		seen = l.ObserveGroup(edit.Before, seen)
	}
	if edit.After, err = verb(edit.Before, seen); err != nil {
		return edit, err
	}
	edit.Changed = edit.After.Registry.Revision != edit.Before.Registry.Revision
	if edit.Changed && !env.JSON() {
		env.PrintGroupDiff(edit.Before, edit.After)
	}
	return edit, nil
}

// PrintGroupDiff prints what differs between the registries of two groups.
func (env *Env) PrintGroupDiff(before, after protocol.Group) {
	env.printDiff(after.ID+".supervisors.json", before.Registry.Encode(), after.Registry.Encode())
}

// GroupClock is Clock for an observer who sees also what is left of the processes of supervisors. It looks for the
// processes of one start once in each observation.
func (env *Env) GroupClock() func() protocol.Observation {
	clock := env.Clock()
	return func() protocol.Observation {
		seen, survived := clock(), make(map[string]bool)
		seen.Survived = func(s *protocol.Registered) bool {
			left, looked := survived[s.StartID]
			if !looked {
				survivors, doubt := process.Survivors(s.Process, s.StartID, s.Keeper)
				left = len(survivors) > 0 || doubt != nil
				survived[s.StartID] = left
			}
			return left
		}
		return seen
	}
}

// Result returns what every edit of a group prints of its supervisor; if that is "", of all.
func (e GroupEdit) Result(supervisor string) Object {
	o := Object{
		{"groupId", e.After.ID}, {"supervisorId", OrNull(supervisor)}, {"revision", e.After.Registry.Revision}, {"changed", e.Changed},
	}
	if s := e.After.Supervisor(supervisor); s != nil {
		return append(o, stateOf(s)...)
	}
	if supervisor != "" {
		return o
	}

	rows := []Object{}
	for i := range e.After.Registry.Supervisors {
		s := &e.After.Registry.Supervisors[i]
		rows = append(rows, append(Object{{"supervisorId", s.ID}}, stateOf(s)...))
	}
	return append(o, Member{"supervisors", rows})
}

func stateOf(s *protocol.Registered) Object {
	return Object{{"state", string(s.State)}, {"pid", PIDOrNull(s.PID)}}
}

// PIDOrNull returns pid, or nil for 0.
func PIDOrNull(pid int) any {
	if pid == 0 {
		return nil
	}
	return pid
}

// CheckGroupTrust refuses to act on a shared ledger, which other members of the group can write to, unless that is asked for.
func (env *Env) CheckGroupTrust(l *fileops.Ledger) error {
	if !l.Config().Shared || env.TrustsGroup() {
		return nil
	}
	return fmt.Errorf("%w: %s is shared: what others write would be run: give --trust-group", fileops.ErrPermission, l.Dir())
}

// DefaultOwner returns whose a pass is that was not told: this user's on this host.
func DefaultOwner() string { return process.Here().ID + ":" + strconv.Itoa(os.Getuid()) }
