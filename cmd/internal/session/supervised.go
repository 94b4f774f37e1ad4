package session

import (
	"errors"
	"slices"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// OperationsOf returns the operations that name supervisor and are not terminal. It includes
// operations that cannot be read; editing them returns the error.
func OperationsOf(l *fileops.Ledger, supervisor string) ([]string, error) {
	ids, err := l.IDs()
	if err != nil {
		return nil, err
	}

	var supervised []string
	for _, id := range ids {
		op, archived, err := l.ReadOperation(id)
		switch {
		case errors.Is(err, fileops.ErrNotFound) || archived:
		case err != nil || !op.State.Terminal() && names(op, supervisor):
			supervised = append(supervised, id)
		}
	}

	return supervised, nil
}

func names(op protocol.Operation, supervisor string) bool {
	_, ok := op.Supervisor(supervisor)
	return ok || slices.ContainsFunc(op.Stack,
		func(f *protocol.Frame) bool { return f.SupervisorID == supervisor })
}
