package run

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-run", func() cli.Command { return new(run) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-run", func() cli.Command { return new(run) })
}
