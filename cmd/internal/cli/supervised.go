package cli

import (
	"errors"
	"slices"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// OperationsOf returns the operations that name supervisor and are not terminal. One that cannot be read is among them:
// whoever edits it will say why.
func OperationsOf(l *fileops.Ledger, supervisor string) ([]string, error) {
	entries, err := l.List()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		op, archived, err := l.ReadOperation(e.ID)
		switch {
		case errors.Is(err, fileops.ErrNotFound) || archived:
		case err != nil || !op.State.Terminal() && names(op, supervisor):
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}

func names(op protocol.Operation, supervisor string) bool {
	_, ok := op.Supervisor(supervisor)
	return ok || slices.ContainsFunc(op.Stack, func(f *protocol.Frame) bool { return f.SupervisorID == supervisor })
}
