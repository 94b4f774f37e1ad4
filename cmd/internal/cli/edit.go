package cli

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/rogpeppe/go-internal/diff"
)

// An Edit is what came of an edit of one operation.
type Edit struct {
	After    protocol.Operation
	Created  bool
	Changed  bool
	Archived bool
}

// A Verb is a verb of the protocol with its arguments bound, but for the observation, which is made under the lock.
type Verb func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error)

// Edit makes verb's change of the operation op; with --dry-run it prints the change, and makes none.
func (env *Env) Edit(l *fileops.Ledger, op string, mode fileops.Mode, verb Verb) (Edit, error) {
	clock := env.Clock()
	var before protocol.Operation
	observed := func(op protocol.Operation, observe fileops.Observe) (protocol.Operation, error) {
		before = op
		return verb(op, observe(clock()))
	}
	if env.DryRun() {
		return env.rehearse(l, op, mode, func(op protocol.Operation) (protocol.Operation, error) {
			return observed(op, func(seen protocol.Observation) protocol.Observation {
				if l != nil {
					seen, _ = l.ObserveOperation(op, seen)
				}
				return seen
			})
		})
	}
	after, archived, err := l.EditOperation(op, mode, observed)
	if err != nil {
		return Edit{}, err
	}
	env.committed = env.committed || archived || after.Revision != before.Revision
	return Edit{
		After: after, Created: before.ID == "" && !archived, Changed: archived || after.Revision != before.Revision, Archived: archived,
	}, nil
}

// NoteCommit notes that something has been committed: a command that then cannot say so exits 71.
func (env *Env) NoteCommit() { env.committed = true }

// EditNamed opens the ledger and edits op in it. What goes wrong is told as of verb on subject, which may be "".
func (env *Env) EditNamed(verb, op, subject string, mode fileops.Mode, v Verb) (Edit, error) {
	l, err := env.Open()
	if err != nil {
		return Edit{}, err
	}
	edit, err := env.Edit(l, op, mode, v)
	return edit, Named(verb, op, subject, err)
}

// Named returns err as what went wrong when verb was done to subject of op.
func Named(verb, op, subject string, err error) error {
	switch {
	case err == nil:
		return nil
	case subject == "":
		return fmt.Errorf("%s: %s: %w", op, verb, err)
	}
	return fmt.Errorf("%s: %s %q: %w", op, verb, subject, err)
}

// printDiff prints what differs between two texts of the file name.
func (env *Env) printDiff(name, before, after string) {
	env.Stdout.Write(diff.Diff("a/"+name, []byte(harmless.JSON(before)), "b/"+name, []byte(harmless.JSON(after))))
}

// rehearse does what Edit would, without a lock, on a copy, and prints the difference.
func (env *Env) rehearse(l *fileops.Ledger, id string, mode fileops.Mode, verb func(protocol.Operation) (protocol.Operation, error)) (Edit, error) {
	var before protocol.Operation
	archived, err := false, fileops.ErrNotFound
	if l != nil {
		before, archived, err = l.ReadOperation(id)
	}
	create := mode&fileops.OrCreate != 0
	switch {
	case archived && !create:
		return Edit{}, fileops.ErrArchived
	case archived:
		before = protocol.Operation{Revision: before.Revision}
	case err != nil && !(create && errors.Is(err, fileops.ErrNotFound)):
		return Edit{}, err
	}
	after, err := verb(before)
	if errors.Is(err, protocol.ErrExpired) {
		if !env.JSON() {
			fmt.Fprintf(env.Stdout, "%s: to the archive\n", id)
		}
		return Edit{After: after, Changed: true, Archived: true}, nil
	}
	if err != nil {
		return Edit{}, err
	}
	changed := after.Revision != before.Revision
	if changed && !env.JSON() {
		old := ""
		if before.ID != "" {
			old = before.Encode()
		}
		env.printDiff(id+".json", old, after.Encode())
	}
	return Edit{After: after, Created: before.ID == "", Changed: changed}, nil
}
