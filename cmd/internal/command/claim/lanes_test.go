package claim

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-claim", func() cli.Command { return new(claim) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-claim", func() cli.Command { return new(claim) })
}
