package job

import (
	"fmt"
	"os"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
)

func init() {
	role := os.Getenv(proctest.RoleVariable)
	if play := map[string]func(){"job": playJob, "shell": playShell,
		"keeper": playKeeper}[role]; play != nil {
		os.Unsetenv(proctest.RoleVariable)
		play()
		os.Exit(0)
	}
}

func TestMain(m *testing.M) {
	Keep(func(note []byte, _ []int) { os.WriteFile(string(note), []byte("told"), 0o600) })
	proctest.Main(m, nil)
}

func identify(t testing.TB, pid int) observe.Process {
	t.Helper()
	p, err := process.Identify(pid)
	if err != nil {
		t.Fatalf("Identify(%d): %v", pid, err)
	}
	return p
}

// mustEnd fails the test unless p ends, as a zombie at least.
func mustEnd(t *testing.T, p observe.Process) {
	t.Helper()
	poll.Until(t, fmt.Sprintf("the end of %d", p.PID), func() bool {
		return process.Exited(p.PID, p.StartTicks)
	})
}
