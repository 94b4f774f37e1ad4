package answer

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-answer", func() cli.Command { return new(answer) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-answer", func() cli.Command { return new(answer) })
}
