package start

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/observe"
)

var errNoGate = errors.New("starting services is not supported on Windows")

// Gate is described in gate.go. It does not work here.
type Gate struct{}

// Stage does nothing here.
func Stage() {}

// Environment returns env: nothing is started here that could have an environment file.
func Environment(env []string, _ string) ([]string, error) { return env, nil }

// Room returns nil.
func Room() *int { return nil }

// Spawn always returns an error.
func Spawn(Command) (*Gate, error) { return nil, errNoGate }

// SpawnUnit always returns an error.
func SpawnUnit(Command, Unit) (*Gate, error) { return nil, errNoGate }

// Process returns the zero Process.
func (*Gate) Process() observe.Process { return observe.Process{} }

// Keeper returns the zero Process.
func (*Gate) Keeper() observe.Process { return observe.Process{} }

// Release always returns an error.
func (*Gate) Release() error { return errNoGate }

// Cancel always returns an error.
func (*Gate) Cancel() error { return errNoGate }
