// Package trace is dpl-trace: see cmd/dpl-trace.
package trace

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/show/otlp"
	"github.com/dpl-project/dpl/protocol/trace"
)

type tracer struct {
	cli.Common `embed:""`

	Op cli.ID `env:"DPL_OP" placeholder:"OP" required:"" help:"operation, also one in the archive"`
}

// Leading returns the flag whose value may be the first argument.
func (*tracer) Leading() string { return "op" }

// Reads makes it a cli.Reader.
func (*tracer) Reads() bool { return true }

func (c *tracer) Run(env *cli.Env) error {
	l, err := env.Open()
	if err != nil {
		return err
	}
	op, _, err := l.ReadOperation(string(c.Op))
	if err != nil {
		return fmt.Errorf("%s: %w", c.Op, err)
	}

	seen := env.Observer()()
	from := otlp.Writer{Version: entry.Version().Version, HostID: seen.Host.ID}
	from.Host, _ = os.Hostname() // without a name the spans have none

	doc, lost, ok := from.Document(op, seen.Now)
	switch {
	case !ok:
		return cli.WithStatus(cli.StatusNotFound, fmt.Errorf("%s: none of its calls is known any more", op.ID))
	case lost > 0:
		env.Warnf("%s: %d calls are missing: an operation keeps its last 64 events; calls that are "+
			"made with a TRACEPARENT keep their spans, the last %d", op.ID, lost, trace.MaxSpans)
	case len(op.Spans) >= trace.MaxSpans:
		env.Warnf("%s: earlier calls may be missing: an operation keeps its last %d spans", op.ID,
			trace.MaxSpans)
	}

	_, err = env.Stdout.Write(env.JSONText(doc))
	return err
}

//go:embed manual.txt
var manual string

// Main runs dpl-trace.
func Main() {
	cli.Main(&tracer{}, "Print the calls of an operation as spans of OpenTelemetry.", manual)
}
