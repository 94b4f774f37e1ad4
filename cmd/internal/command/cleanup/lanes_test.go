package cleanup

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-cleanup", func() cli.Command { return new(cleanup) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-cleanup", func() cli.Command { return new(cleanup) })
}
