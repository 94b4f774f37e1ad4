package push

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-push", func() cli.Command { return new(push) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-push", func() cli.Command { return new(push) })
}
