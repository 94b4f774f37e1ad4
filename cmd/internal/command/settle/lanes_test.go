package settle

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-settle", func() cli.Command { return new(settle) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-settle", func() cli.Command { return new(settle) })
}
