package main

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

// operationStates and serviceStates are the states that --check accepts.
var (
	operationStates = []string{
		string(protocol.Running), string(protocol.Aborted), string(protocol.Cleanup),
		string(protocol.Completed), string(protocol.Failed), "terminal",
	}
	serviceStates = []string{
		string(protocol.StateRegistered), string(protocol.StateWaiting),
		string(protocol.StateRunning), string(protocol.StateFailed),
		string(protocol.StateScheduled), string(protocol.StateDead),
		string(protocol.StateShuttingDown), string(protocol.StateStopped),
	}
)

// knownState returns an error if state is not in states. what is the kind of object.
func knownState(states []string, what, state string) error {
	if slices.Contains(states, state) {
		return nil
	}
	return cli.Usagef("--check: of %s: want %s, not %q", what, strings.Join(states, ", "), state)
}
