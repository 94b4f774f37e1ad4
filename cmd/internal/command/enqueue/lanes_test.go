package enqueue

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-enqueue", func() cli.Command { return new(enqueue) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-enqueue", func() cli.Command { return new(enqueue) })
}
