package orchestrate

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-orchestrate", func() cli.Command { return new(orchestrate) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-orchestrate", func() cli.Command { return new(orchestrate) })
}
