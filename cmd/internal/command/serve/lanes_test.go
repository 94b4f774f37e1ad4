package serve

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-serve", func() cli.Command { return new(serve) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-serve", func() cli.Command { return new(serve) })
}
