package audit

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) { lanes.Fuzz(f, "dpl-audit", func() cli.Command { return new(auditor) }) }

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-audit", func() cli.Command { return new(auditor) })
}
