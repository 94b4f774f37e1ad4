package start

import (
	"errors"

	"github.com/dpl-project/dpl/protocol"
)

var errNoGate = errors.New("starting services is not supported on Windows")

// Gate is described in gate.go. None exists here.
type Gate struct{}

// Stage does nothing here.
func Stage() {}

// Spawn always fails.
func Spawn(Command) (*Gate, error) { return nil, errNoGate }

// SpawnUnit always fails.
func SpawnUnit(Command, Unit) (*Gate, error) { return nil, errNoGate }

// Process returns nothing.
func (*Gate) Process() protocol.Process { return protocol.Process{} }

// Keeper returns nothing.
func (*Gate) Keeper() protocol.Process { return protocol.Process{} }

// Release always fails.
func (*Gate) Release() error { return errNoGate }

// Cancel always fails.
func (*Gate) Cancel() error { return errNoGate }
