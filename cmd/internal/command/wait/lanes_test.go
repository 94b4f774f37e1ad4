package wait

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-wait", func() cli.Command { return new(wait) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-wait", func() cli.Command { return new(wait) })
}
