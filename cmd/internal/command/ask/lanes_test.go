package ask

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-ask", func() cli.Command { return new(ask) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-ask", func() cli.Command { return new(ask) })
}
