package watch

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-watch", func() cli.Command { return new(watch) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-watch", func() cli.Command { return new(watch) })
}
