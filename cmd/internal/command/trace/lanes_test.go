package trace

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-trace", func() cli.Command { return new(tracer) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-trace", func() cli.Command { return new(tracer) })
}
