package heartbeat

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/cli/lanes"
)

func FuzzLanes(f *testing.F) {
	lanes.Fuzz(f, "dpl-heartbeat", func() cli.Command { return new(heartbeat) })
}

func TestVariables(t *testing.T) {
	lanes.Variables(t, "dpl-heartbeat", func() cli.Command { return new(heartbeat) })
}
