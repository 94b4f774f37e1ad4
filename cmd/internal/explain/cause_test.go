package explain_test

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

func TestWhy(t *testing.T) {
	for want, why := range map[string]protocol.Transition{
		"enough":                    {Reason: "enough"},
		"call c: no disk":           {Cause: &protocol.Cause{Call: "c", Exit: observe.ExitStatus(1), Reason: "no disk"}},
		"call c: exit status 1":     {Cause: &protocol.Cause{Call: "c", Exit: observe.ExitStatus(1)}},
		"call c: killed by SIGKILL": {Cause: &protocol.Cause{Call: "c", Exit: observe.KilledBy("SIGKILL")}},
		"call c failed":             {Cause: &protocol.Cause{Call: "c"}, Reason: "exit status 1"},
		"call c crashed: its process is gone": {
			Cause: &protocol.Cause{Call: "c", Evidence: observe.Exited}},
		"call c crashed: its host was rebooted": {
			Cause: &protocol.Cause{Call: "c", Evidence: observe.Rebooted}},
		"call c crashed: it sent no heartbeat in time": {
			Cause: &protocol.Cause{Call: "c", Evidence: observe.Stale}},
		"call c crashed: its supervisor is dead": {
			Cause: &protocol.Cause{Call: "c", Evidence: observe.SupervisorDead}},
		"call c crashed: melted": {Cause: &protocol.Cause{Call: "c", Evidence: "melted"}},
	} {
		if got := explain.Why(why); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
