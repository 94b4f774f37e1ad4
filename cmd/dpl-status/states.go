package main

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

// operationStates and serviceStates are what --check can ask for.
var (
	operationStates = []string{
		string(protocol.Running), string(protocol.Aborted), string(protocol.Cleanup), string(protocol.Completed), string(protocol.Failed), "terminal",
	}
	serviceStates = []string{
		string(protocol.StateRegistered), string(protocol.StateWaiting), string(protocol.StateRunning), string(protocol.StateFailed),
		string(protocol.StateScheduled), string(protocol.StateDead), string(protocol.StateShuttingDown), string(protocol.StateStopped),
	}
)

// states returns each state of either list once.
func states() []string {
	all := slices.Clone(operationStates)
	for _, s := range serviceStates {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// knownState returns why there is no state to be asked for of what, or nil.
func knownState(states []string, what, state string) error {
	if slices.Contains(states, state) {
		return nil
	}
	return cli.Usagef("--check: of %s: want %s, not %q", what, strings.Join(states, ", "), state)
}
