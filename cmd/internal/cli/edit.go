package cli

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/rogpeppe/go-internal/diff"
)

// An Edit is the result of an edit of one operation.
type Edit struct {
	fileops.Edit[protocol.Operation]
}

// Created reports whether the operation did not exist before.
func (e Edit) Created() bool { return e.Before.ID == "" && !e.Archived }

// Edit applies verb to the operation op. With --dry-run it prints the change instead.
func (env *Env) Edit(l *fileops.Ledger, op string, mode fileops.Mode, verb fileops.Verb[protocol.Operation]) (Edit, error) {
	edit, err := env.EditQuietly(l, op, mode, verb)
	if err == nil && env.DryRun() && !env.JSON() {
		env.printEdit(op, edit)
	}
	return edit, err
}

// EditQuietly is like Edit, for a command that prints the change itself.
func (env *Env) EditQuietly(l *fileops.Ledger, op string, mode fileops.Mode, verb fileops.Verb[protocol.Operation]) (Edit, error) {
	edit, err := l.EditOperation(op, env.mode(mode), verb)
	if err != nil {
		return Edit{}, err
	}
	env.committed = env.committed || edit.Changed() && !env.DryRun()
	return Edit{edit}, nil
}

// mode returns mode, with --dry-run combined with DryRun.
func (env *Env) mode(mode fileops.Mode) fileops.Mode {
	if env.DryRun() {
		mode |= fileops.DryRun
	}
	return mode
}

// printEdit prints the change of an edit of the operation op.
func (env *Env) printEdit(op string, edit Edit) {
	before := ""
	if edit.Before.ID != "" {
		before = edit.Before.Encode()
	}

	switch {
	case edit.Archived:
		fmt.Fprintf(env.Stdout, "%s: to the archive\n", op)
	case edit.Changed():
		env.printDiff(fileops.OperationName(op), before, edit.After.Encode())
	}
}

// NoteCommit records that something has been committed. If the command cannot report that
// afterwards, it exits 71.
func (env *Env) NoteCommit() { env.committed = true }

// EditNamed opens the ledger and edits op in it. Errors say that verb failed for subject, which may
// be "".
func (env *Env) EditNamed(verb, op, subject string, mode fileops.Mode, v fileops.Verb[protocol.Operation]) (Edit, error) {
	l, err := env.Open()
	if err != nil {
		return Edit{}, err
	}
	edit, err := env.Edit(l, op, mode, v)
	return edit, Named(verb, op, subject, err)
}

// Named returns err with the operation op, verb and subject before it.
func Named(verb, op, subject string, err error) error {
	switch {
	case err == nil:
		return nil
	case subject == "":
		return fmt.Errorf("%s: %s: %w", op, verb, err)
	}
	return fmt.Errorf("%s: %s %q: %w", op, verb, subject, err)
}

// printDiff prints the difference between two texts of the file name.
func (env *Env) printDiff(name, before, after string) {
	env.Stdout.Write(diff.Diff("a/"+name, []byte(harmless.JSON(before)), "b/"+name, []byte(harmless.JSON(after))))
}
