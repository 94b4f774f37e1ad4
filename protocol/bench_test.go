package protocol

import (
	"fmt"
	"testing"
	"time"
)

// chain returns an operation of n calls, as the commands make it.
func chain(tb testing.TB, n int) (Operation, Observation) {
	seen := Observation{
		Now:         time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC),
		Host:        Host{ID: "6f2d0e1b8c9a7755", BootID: "0b1f9aef-0d09-4b0c-8d25-8a4d35b1a0c1", PIDNamespace: "4026531836"},
		MonotonicMs: 123456789,
	}
	op := Create("bench", 0, 0)
	for i := range n {
		var err error
		if op, err = op.Push(Push{Participant: "worker", Call: fmt.Sprintf("call-%d", i), PID: 12345}, seen); err != nil {
			tb.Fatal(err)
		}
	}
	return op, seen
}

func BenchmarkHeartbeat(b *testing.B) {
	for _, frames := range []int{3, 1000} {
		op, seen := chain(b, frames)
		data := op.Encode()
		b.Run(fmt.Sprint(frames), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				op, err := Decode(data)
				if err != nil {
					b.Fatal(err)
				}
				if op, err = op.Heartbeat(Actor{Call: "call-1"}, Report{}, seen); err != nil {
					b.Fatal(err)
				}
				op.Encode()
			}
		})
	}
}
