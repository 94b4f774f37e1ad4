package check

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-check", func() cli.Command { return new(checker) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-check", func() cli.Command { return new(checker) })
}
