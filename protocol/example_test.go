package protocol_test

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A caller and its callee share an operation. The callee dies. The next heartbeat of the caller
// detects that, and the caller ends its call.
func Example() {
	at := func(seconds int) observe.Observation {
		return observe.Observation{Now: time.Date(2026, 1, 20, 10, 30, seconds, 0, time.UTC)}
	}

	op := protocol.Create("build-42", "", 0, 0)
	op, _ = op.Push(protocol.Push{Participant: "cli", Call: "make"}, at(0))
	op, _ = op.Push(protocol.Push{Participant: "worker", Call: "cc",
		Resources: []string{"/build/cc.o"}}, at(1))

	// Ten seconds without a heartbeat of the callee, and more.
	op, _ = op.Heartbeat(protocol.Actor{Call: "make"}, observe.Report{}, at(6))
	op, _ = op.Heartbeat(protocol.Actor{Call: "make"}, observe.Report{}, at(12))
	fmt.Println(op.State, op.Frame("cc").State, op.Frame("cc").Crash.Evidence)

	// The next heartbeat cleans up. It asks the caller of this package to delete what the callee
	// has left.
	op, _ = op.Heartbeat(protocol.Actor{Call: "make"}, observe.Report{}, at(13))
	fmt.Println(op.Frame("cc").State, op.Effects().Released)

	op, err := op.Pop(protocol.Pop{Call: "make"}, at(14))
	fmt.Println(op.State, len(op.Stack), err)

	// Output:
	// cleanup crashed stale
	// cleanedUp [{cc [/build/cc.o] []}]
	// failed 0 <nil>
}

// Encode and Decode write and read an operation file. Unknown members survive.
func ExampleDecode() {
	op, err := protocol.Decode(`{"operationId": "a", "state": "running", "lastHeartbeat": "2026-01-20T10:30:00Z", "stack": [], "team": "blue"}`)
	fmt.Println(op.State, op.Unknown, err)

	_, err = protocol.Decode(`{"operationId": "a", "state": "asleep"}`)
	fmt.Println(err)

	// Output:
	// running [{team "blue"}] <nil>
	// /state: unknown state "asleep"
}
