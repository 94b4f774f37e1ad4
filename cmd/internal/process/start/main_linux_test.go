package start

import (
	"os"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/programs"
)

func TestMain(m *testing.M) {
	entry.Begin() // see TestKeptFromEntry
	Stage()
	proctest.Main(programs.Of(m, "as", "gcc", "ld"), map[string]func() string{
		"pass":    pass,
		"unit":    spawnUnit,
		"witness": witness,
		"dial":    dialAs,
		"connect": connect,
	})
}

// dialAs dials its argument, as a stage does.
func dialAs() string {
	if _, err := dial(os.Args[1]); err != nil {
		return err.Error()
	}
	return "ready"
}

func identify(t testing.TB, pid int) observe.Process {
	t.Helper()
	p, err := process.Identify(pid)
	if err != nil {
		t.Fatalf("Identify(%d): %v", pid, err)
	}
	return p
}
