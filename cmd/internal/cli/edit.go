package cli

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/rogpeppe/go-internal/diff"
)

// Edit applies verb to the operation op, or in a dry run prints the change.
func (env *Env) Edit(l *fileops.Ledger, op string, mode fileops.Mode,
	verb fileops.Verb[protocol.Operation]) (session.Edit, error) {
	edit, err := env.EditOperation(l, op, mode, verb)
	if err == nil && env.DryRun() && !env.JSON() {
		env.printEdit(op, edit)
	}
	return edit, err
}

// printEdit prints what an edit of the operation op changes.
func (env *Env) printEdit(op string, edit session.Edit) {
	before, next := "", edit.Before.RunID != edit.After.RunID
	if edit.Before.ID != "" && !next {
		before = edit.Before.Encode()
	}

	if edit.Archived || edit.Before.ID != "" && next {
		fmt.Fprintf(env.Stdout, "%s: to the archive\n", op)
	}
	if !edit.Archived && edit.Changed() {
		env.printDiff(layout.OperationName(op), before, edit.After.Encode())
	}
}

// Apply opens the ledger, applies verb to the operation op in it, and prints the result if JSON is
// wanted. Errors say that the verb called name failed for subject, which may be "".
func (env *Env) Apply(name, op, subject string, verb fileops.Verb[protocol.Operation]) error {
	l, err := env.Open()
	if err != nil {
		return err
	}

	edit, err := env.Edit(l, op, fileops.Existing, verb)
	if err == nil && env.JSON() {
		env.PrintJSON(Result(edit))
	}
	return Named(name, op, subject, err)
}

// Named returns err with the operation op, verb and subject before it.
func Named(verb, op, subject string, err error) error {
	switch {
	case err == nil:
		return nil
	case subject == "":
		return named{fmt.Errorf("%s: %s: %w", op, verb, err), op}
	}
	return named{fmt.Errorf("%s: %s %q: %w", op, verb, subject, err), op}
}

// A named error is about an operation, a group or a queue.
type named struct {
	error
	object string // its id
}

func (n named) Unwrap() error { return n.error }

// printDiff prints the difference between two texts of the file name.
func (env *Env) printDiff(name, before, after string) {
	env.Stdout.Write(diff.Diff("a/"+name, []byte(harmless.JSON(before)), "b/"+name,
		[]byte(harmless.JSON(after))))
}
