package trace

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

//go:embed examples.txt
var examples string

// Main runs dpl-trace.
func Main() {
	cli.Main(&tracer{}, cli.Manual{
		Summary: "Print the calls of an operation as spans of OpenTelemetry.",
		Usage: `
OP [--ledger DIR]
`,
		Details: `
Prints OTLP/JSON, which a collector takes at /v1/traces. An operation whose calls are made with
a TRACEPARENT in the environment belongs to that trace; another one gets a trace of its own.
Each call hangs below its caller, or below the program that called it if that has a span. Exits
66 if there is no such operation, or none of its calls is known any more.
`,
		Exits: `
0
64
65
66
70
74
77
78
`,
		Examples: examples,
	})
}
