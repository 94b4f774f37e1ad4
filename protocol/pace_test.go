package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Many calls share the file, so each sends heartbeats more rarely, unless they are needed to know
// who is alive.
func TestPace(t *testing.T) {
	const first = observe.FirstPIDNamespace
	process := func(host, namespace string) observe.Process {
		return observe.Process{PID: 7, HostID: host, BootID: "b", PIDNamespace: namespace, StartTicks: 1}
	}

	for _, c := range []struct {
		name     string
		calls    int
		interval time.Duration
		other    Frame // on top
		promised bool
		shared   bool
		inside   bool // a container
		want     time.Duration
	}{
		{name: "few", calls: 3, want: DefaultStalenessThreshold / 3},
		{name: "a long interval", calls: 3, interval: 9 * time.Second, want: 9 * time.Second},
		{name: "many", calls: 399, want: 160 * time.Second},
		{name: "many, of which one has ended", calls: 400, other: Frame{State: FrameCleanedUp},
			want: 160 * time.Second},
		{name: "many, of which one has no process", calls: 399,
			other: Frame{Vitals: observe.Vitals{Beat: observe.Beat{BootID: "b"}}}, want: 160 * time.Second},
		{name: "many, and one on another boot", calls: 399,
			other: Frame{Vitals: observe.Vitals{Beat: observe.Beat{BootID: "c"}}},
			want:  DefaultStalenessThreshold / 3},
		{name: "many, and one on another host", calls: 399,
			other: Frame{Vitals: observe.Vitals{PID: 7, Process: process("i", first)}},
			want:  DefaultStalenessThreshold / 3},
		{name: "many, and one in a container", calls: 399,
			other: Frame{Vitals: observe.Vitals{PID: 7, Process: process("h", "2")}},
			want:  DefaultStalenessThreshold / 3},
		{name: "many, and a promise", calls: 399, promised: true,
			want: DefaultStalenessThreshold / 3},
		{name: "many, on a shared ledger", calls: 399, shared: true,
			want: DefaultStalenessThreshold / 3},
		{name: "many, all in one container", calls: 399, inside: true,
			want: DefaultStalenessThreshold / 3},
	} {
		host := observe.Host{ID: "h", BootID: "b", PIDNamespace: first}
		if c.inside {
			host.PIDNamespace = "3"
		}

		op := Create("op", "", c.interval, 0)
		for i := range c.calls {
			op.Stack = append(op.Stack, &Frame{
				CallID: fmt.Sprint("c", i), State: FrameActive, Vitals: observe.Vitals{
					PID: 7, Process: process("h", host.PIDNamespace), Heartbeats: c.promised,
				},
			})
		}

		other := c.other
		if other.CallID = "other"; other.State == "" {
			other.State = FrameActive
		}

		op.Stack = append(op.Stack, &other)
		seen := observe.Observation{Now: noon, Host: host,
			Look: func(observe.Process) observe.Presence { return observe.Present }}
		if c.shared {
			seen.Sightings = &observe.Sightings{}
		}
		if got := op.Pace("c0", seen); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got, want := op.Pace("none", seen), max(op.HeartbeatInterval,
			DefaultStalenessThreshold/3); got != want {
			t.Errorf("%s: a call that is not there: %v, want %v", c.name, got, want)
		}
	}
}

func TestGlance(t *testing.T) {
	op, _ := chain(t, 3)
	text := op.Encode()
	for start, want := range map[string]State{
		text: Running, text[:400]: Running, text[:40]: "", "": "", "{}": "",
	} {
		revision, got := Glance(start)
		if got != want || revision != 0 && revision != op.Revision ||
			(revision == 0) != (want == "") {
			t.Errorf("Glance(%.60q) = %d, %q, want %q", start, revision, got, want)
		}
	}

	op.State = Cleanup
	if _, got := Glance(op.Encode()); got != Cleanup {
		t.Errorf("in cleanup: %q", got)
	}
}
