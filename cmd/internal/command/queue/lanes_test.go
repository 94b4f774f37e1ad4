package queue

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-queue", func() cli.Command { return new(control) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-queue", func() cli.Command { return new(control) })
}
