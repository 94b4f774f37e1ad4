package metrics

import (
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
)

func operationLabels(op model.Operation) []string { return []string{"operation", op.ID} }

func operationMetrics() []metric[model.Operation] {
	type op = model.Operation
	return []metric[op]{
		{family{"dpl_operation_state", gauge, "1 for the state of the operation, 0 for the others."},
			states(func(op op) protocol.State { return op.State }, protocol.Running,
				protocol.Aborted, protocol.Cleanup, protocol.Completed, protocol.Failed)},
		{family{"dpl_operation_heartbeat_age_seconds", gauge,
			"Since the last heartbeat of any call of the operation."},
			known(func(op op) (float64, bool) {
				return seconds(op.Seen.Now.Sub(op.LastHeartbeat)),
					!op.LastHeartbeat.IsZero() && !op.State.Terminal()
			})},
	}
}

func callLabels(c model.Call) []string {
	return []string{"operation", c.Op.ID, "call", c.CallID, "participant", c.ParticipantID}
}

func callMetrics() []metric[model.Call] {
	type call = model.Call
	return []metric[call]{
		{family{"dpl_call_up", gauge, "1 if the call is alive, as judged now."},
			flag(func(c call) bool { return c.State.Live() && !c.Dead() })},
		{family{"dpl_call_heartbeat_age_seconds", gauge, "Since the last heartbeat of the call."},
			known(func(c call) (float64, bool) {
				return seconds(c.Age), !c.LastHeartbeat.IsZero()
			})},
	}
}
