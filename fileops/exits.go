package fileops

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ReserveExit creates the exit record of a start, and makes sure that the disk has room for it
// (spec §19.2). It returns its path. The caller holds the group's lock.
func (l *Ledger) ReserveExit(groupID string, x group.ExitRecord) (path string, err error) {
	if err := errors.Join(wire.CheckID(groupID), wire.CheckID(x.ServiceID)); err != nil {
		return "", err
	}

	for _, dir := range []string{l.ExitsDir(), l.GroupExits(groupID)} {
		if err := l.fs.EnsureDurableDir(dir); err != nil {
			return "", err
		}
	}

	x.Schema = wire.Schema("exit")
	path = l.ReservedExitPath(groupID, x.ServiceID, x.StartID)
	return path, l.fs.WriteNew(path, []byte(x.Encode()), true)
}

// ReadExit returns the exit record of a start of a service, and whether there is one. A record
// whose text cannot be understood has no phase, and one that cannot be read is Unreadable; the
// error says why.
func (l *Ledger) ReadExit(groupID, service, startID string) (group.ExitRecord, bool, error) {
	// First the reserved one, so that it is not missed while it gets its other name.
	var found group.ExitRecord
	var there bool
	var unclear error
	for _, path := range []string{
		l.ReservedExitPath(groupID, service, startID), l.ExitPath(groupID, service, startID),
	} {
		data, _, err := l.fs.ReadFile(path)
		if trust.IgnoreMissing(err) == nil && err != nil {
			continue
		}

		there, found, unclear = true, group.ExitRecord{Unreadable: err != nil}, err
		if err == nil {
			if found, unclear = group.DecodeExitRecord(trust.AsString(data)); unclear != nil {
				unclear = fmt.Errorf("%s: %w", path, unclear)
			}
		}
		found.Complete = path == l.ExitPath(groupID, service, startID)
	}

	return found, there, unclear
}
