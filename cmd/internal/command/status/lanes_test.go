package status

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-status", func() cli.Command { return new(status) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-status", func() cli.Command { return new(status) })
}
