package pop

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-pop", func() cli.Command { return new(pop) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-pop", func() cli.Command { return new(pop) })
}
