package shutdown

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-shutdown", func() cli.Command { return new(shutdown) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-shutdown", func() cli.Command { return new(shutdown) })
}
