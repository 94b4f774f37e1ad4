package register

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-register", func() cli.Command { return new(register) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-register", func() cli.Command { return new(register) })
}
