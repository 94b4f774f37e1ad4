package status

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
)

// These are no states, but --check accepts them of a service and of a group.
const (
	ready   = "ready"
	healthy = "healthy"
)

// operationStates, serviceStates, groupStates and queueStates are the states that --check accepts.
var (
	operationStates = []string{
		string(protocol.Running), string(protocol.Aborted), string(protocol.Cleanup),
		string(protocol.Completed), string(protocol.Failed), "terminal",
	}
	serviceStates = []string{
		string(group.StateRegistered), string(group.StateWaiting),
		string(group.StateRunning), string(group.StateFailed),
		string(group.StateScheduled), string(group.StateDead),
		string(group.StateShuttingDown), string(group.StateStopped),
		string(group.StateCompleted), ready, healthy,
	}
	groupStates = []string{healthy}
	queueStates = []string{
		string(queue.Running), string(queue.Halted), string(queue.GoalEmpty),
		string(queue.Completed),
	}
)

// checkState returns an error if what cannot be in state.
func checkState(what subject, state string) error {
	states, kind := operationStates, "an operation"
	switch {
	case what.queue != "":
		states, kind = queueStates, "a queue"
	case what.group != "" && what.service == "":
		states, kind = groupStates, "a group"
	case what.group != "":
		states, kind = serviceStates, "a service"
	}
	if slices.Contains(states, state) {
		return nil
	}
	return cli.Usagef("--check: of %s: want %s, not %q", kind, strings.Join(states, ", "), state)
}
