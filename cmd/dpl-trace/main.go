// Dpl-trace prints the calls of an operation as spans of OpenTelemetry.
//
//	dpl-trace OP [--ledger DIR]
//
// Spec §59.5, in spec/traces.md.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/trace"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	entry.UseProcessors()
	trace.Main()
}
