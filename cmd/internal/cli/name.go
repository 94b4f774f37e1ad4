package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A Kind is one of the things in a ledger that have names. It is the flag for it, too.
type Kind string

// The kinds of things.
const (
	KindOperation Kind = "op"
	KindGroup     Kind = "group"
	KindQueue     Kind = "queue"
)

// KindOf returns what is called name in l. It returns a usage error if that is more than one thing,
// and one with status 66 that lists some names if there is nothing.
func KindOf(l *fileops.Ledger, name string) (Kind, error) {
	_, _, opErr := l.ReadOperation(name)
	_, groupErr := l.ReadGroup(name)
	_, queueErr := l.ReadQueue(name)

	var flags []string // what cannot be read is there
	kind := Kind("")
	for _, k := range []struct {
		Kind
		there bool
	}{
		{KindOperation, !errors.Is(opErr, fileops.ErrNotFound)},
		{KindGroup, !errors.Is(groupErr, fileops.ErrNoGroup)},
		{KindQueue, queue.CheckID(name) == nil && !errors.Is(queueErr, queue.ErrNoQueue)},
	} {
		if k.there {
			kind = k.Kind
			flags = append(flags, fmt.Sprintf("--%s %s", k.Kind, name))
		}
	}

	switch len(flags) {
	case 0:
		return "", WithStatus(StatusNotFound, fmt.Errorf("%s: there is no such operation, group or "+
			"queue%s", name, names(l)))
	case 1:
		return kind, nil
	}
	return "", Usagef("%q is the name of several things: give %s", name, strings.Join(flags, " or "))
}

// names returns the names of some things in l, to follow a message.
func names(l *fileops.Ledger) string {
	const most = 8
	ops, _ := l.IDs()
	groups, _ := l.Groups()
	queues, _ := l.QueueIDs()
	all := slices.Concat(ops, groups, queues)
	slices.Sort(all)
	all = slices.Compact(all)

	switch {
	case len(all) == 0:
		return ": there is nothing in the ledger"
	case len(all) > most:
		return fmt.Sprintf(": there are %s and %d more", strings.Join(all[:most], ", "),
			len(all)-most)
	}
	return ": there are " + strings.Join(all, ", ")
}
