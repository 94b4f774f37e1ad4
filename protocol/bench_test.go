package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/go-json-experiment/json/jsontext"
)

// chain returns an operation of n calls, as the commands make it.
func chain(tb testing.TB, n int) (Operation, observe.Observation) {
	seen := observe.Observation{
		Now: time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC),
		Host: observe.Host{ID: "6f2d0e1b8c9a7755", BootID: "0b1f9aef-0d09-4b0c-8d25-8a4d35b1a0c1",
			PIDNamespace: "4026531836"},
		MonotonicMs: 123456789,
	}

	op := Create("bench", "", 0, 0)
	for i := range n {
		var err error
		if op, err = op.Push(Push{Participant: "worker", Call: fmt.Sprintf("call-%d", i),
			PID: 12345}, seen); err != nil {
			tb.Fatal(err)
		}
	}

	return op, seen
}

// layouts returns text as others write it.
func layouts(tb testing.TB, text string) map[string]string {
	compact := jsontext.Value(text)
	if err := compact.Compact(); err != nil {
		tb.Fatal(err)
	}

	spaced := slices.Clone(compact)
	if err := spaced.Format(jsontext.SpaceAfterColon(true),
		jsontext.SpaceAfterComma(true)); err != nil {
		tb.Fatal(err)
	}

	tabs := slices.Clone(compact)
	if err := tabs.Indent(); err != nil {
		tb.Fatal(err)
	}

	seed := strings.ReplaceAll(string(spaced), `, "state": "active"`,
		`, "state": "active", "supervisorId": null`)

	return map[string]string{
		"dpl": text, "JSON.stringify": string(compact), "json.dump": string(spaced),
		"jq --tab": string(tabs) + "\n", "seed": seed,
	}
}

func BenchmarkDecode(b *testing.B) {
	const frames = 1000
	op, seen := chain(b, frames)
	for i, f := range op.Stack {
		f.Process = observe.Process{
			PID: 12345, HostID: seen.Host.ID, BootID: seen.Host.BootID,
			PIDNamespace: seen.Host.PIDNamespace, StartTicks: 123456,
		}
		f.StartTime = f.StartTime.Add(time.Duration(i) * time.Millisecond)
	}

	for name, text := range layouts(b, canonical(op)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(text); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/frames, "ns/frame")
		})
	}
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
				op, err = op.Heartbeat(Actor{Call: "call-1"}, observe.Report{}, seen)
				if err != nil {
					b.Fatal(err)
				}
				op.Encode()
			}
		})
	}
}
