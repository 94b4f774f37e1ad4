package work

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-work", func() cli.Command { return new(work) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-work", func() cli.Command { return new(work) })
}
