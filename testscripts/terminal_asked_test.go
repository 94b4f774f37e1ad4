//go:build linux

package testscripts

import (
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// SIGINT that dpl-run itself sends is no Ctrl-C: the script goes on.
func TestTerminalAskedToEnd(t *testing.T) {
	t.Parallel()
	const script = `dpl-run --op build --call c --soft-timeout 100ms -- sh -c 'echo ready; exec sleep 600'; echo status $? and on; exit 7`
	y := sitDown(t, built(t), strict.Program(t, "dash"), "-c", script)
	y.hear(t, "ready")
	y.hear(t, "status 130 and on")
	if got := y.end(t); got != "7" {
		t.Errorf("it ended with %s, want 7", got)
	}

	y.failed(t, "call c: killed by SIGINT")
}
