package restart

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-restart", func() cli.Command { return new(restart) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-restart", func() cli.Command { return new(restart) })
}
