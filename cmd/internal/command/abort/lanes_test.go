package abort

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-abort", func() cli.Command { return new(abort) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-abort", func() cli.Command { return new(abort) })
}
