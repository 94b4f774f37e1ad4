package doctor

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-doctor", func() cli.Command { return new(doctor) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-doctor", func() cli.Command { return new(doctor) })
}
