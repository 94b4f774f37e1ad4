package protocol

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"pgregory.net/rapid"
)

// machine is an operation in a world: it makes verbs, and lets things happen between them.
type machine struct {
	op     Operation
	places []*place // the first two are on one host
	ticks  int64    // start ticks of the process started last

	calls       map[string]*pulse // of the calls in the stack
	supervisors map[string]*pulse // of those that have an entry
	handlers    map[string]*pulse // of the calls that were claimed
	told        map[string]*pulse // for each call whose crash was reported to its supervisor: when
	counted     int               // edits since the operation became terminal
	begun       bool              // there is an operation: it has not been archived
}

// verb is one verb that is made, and what it means for the truth.
type verb struct {
	name  string
	actor Actor // whose frames and supervisor are refreshed; PID and Process are those of the beating process
	at    *place
	blind bool
	awake bool // it has looked all the while
	do    func(observe.Observation) (Operation, error)

	lenient string   // participant that is not judged stale
	adopts  bool     // frames without identity get that of the actor
	always  bool     // it is an edit if it is not refused
	ticks   bool     // it judges even if it changes nothing
	counts  bool     // in a terminal state, for the countdown
	acked   []string // calls it acknowledges
	left    []string // calls whose handler gives up
	popped  string
	fails   bool // the pop is a failure
}

// TestMachine compares an operation with a model of what really happens to its participants (spec
// §4, §5): no live participant that sends heartbeats is declared crashed, and every other one is,
// by the first observer that can know. It also checks properties of every history. It makes the
// same histories each time; -rapid.seed and -rapid.checks make others and more.
func TestMachine(t *testing.T) {
	given := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "700",
		"rapid.steps": "100", "rapid.nofailfile": "true"} {
		if !given[name] {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}

	rapid.Check(t, func(r *rapid.T) {
		m := newMachine(r)
		r.Repeat(map[string]func(*rapid.T){
			"push": m.push, "push again": m.push, "beat": m.beat, "beat again": m.beat,
			"beat as supervisor": m.beatSupervisor,
			"beat as both":       m.beatBoth, "pop": m.pop, "abort": m.abort, "cleanup": m.cleanup,
			"cleanup again": m.cleanup,
			"ack":           m.ack, "claim": m.claim, "unclaim": m.unclaim,
			"wait": m.wait, "wait again": m.wait, "exit": m.exit, "suspend": m.suspend,
			"set a clock": m.setClock, "reboot": m.reboot,
			"edit by hand": m.edit,
		})

		m.drain(r)
	})
}

func newMachine(t *rapid.T) *machine {
	start := time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)
	h1 := &simHost{id: "h1", wall: start, bootedAt: start.Add(-time.Minute), mono: 60_000}
	skew := rapid.SampledFrom([]time.Duration{0, 3 * time.Second, -time.Hour}).Draw(t,
		"skew of the other host")
	h2 := &simHost{id: "h2", wall: start.Add(skew), bootedAt: start.Add(-time.Hour),
		mono: 3_600_000}
	m := &machine{}
	m.again()

	for _, p := range []*place{{simHost: h1, namespace: "1"}, {simHost: h1, namespace: "2"},
		{simHost: h2, namespace: "1"}} {
		p.reboot()
		m.places = append(m.places, p)
	}

	return m
}

// drain ends all participants and makes a janitor's passes: whatever the state, the operation is
// archived after a few.
func (m *machine) drain(t *rapid.T) {
	for _, p := range m.places {
		p.reboot()
	}

	for _, call := range slices.Repeat([]string{"1", "2", "3", "4", "5"},
		one(t, "all pop, and leave it open", 0, 0, 0, 1)) {
		v := &verb{name: "last pop", at: m.places[0], always: true}
		if f := m.op.Frame(call); f != nil {
			v.lenient, v.popped = f.ParticipantID, call
		}
		v.do = func(seen observe.Observation) (Operation,
			error) {
			return m.op.Pop(Pop{Call: call, KeepOpen: true}, seen)
		}
		m.try(t, v)
	}

	const passes = 8
	for range passes {
		if !m.begun {
			return
		}

		m.awake(20 * time.Second)
		if len(m.op.Stack) == 0 && m.op.State == Running {
			m.awake(max(0, m.op.LastHeartbeat.Sub(m.places[0].wall)) + 2*abandonedAfter)
		}

		v := &verb{name: "last cleanup", at: m.places[0], ticks: true, counts: true}
		v.do = func(seen observe.Observation) (Operation, error) { return m.op.Cleanup("janitor", seen) }
		m.try(t, v)
	}

	if m.begun {
		t.Fatalf("%d passes have not archived it:\n%s", passes, m.op.Encode())
	}
}

// again starts over with an operation that does not exist, and continues the revision, as push
// --reuse does.
func (m *machine) again() {
	op := Create("machine", "", 0, 0)
	op.Revision, op.Events = m.op.Revision, m.op.Events
	*m = machine{
		op: op, places: m.places, ticks: m.ticks,
		calls: make(map[string]*pulse), supervisors: make(map[string]*pulse),
		handlers: make(map[string]*pulse), told: make(map[string]*pulse),
	}
}

// try applies the verb, checks the result, and reports whether it was an edit or found nothing to
// do.
func (m *machine) try(t *rapid.T, v *verb) bool {
	if !m.begun && v.name != "push" {
		return false
	}

	before := m.op
	seen := v.at.seen(v.blind)
	if v.awake {
		seen.Watch = observe.Awake
	}

	after, err := v.do(seen)
	t.Logf("%s %s %+v at %s/%s %s, %d ms: %v", v.name, v.popped+strings.Join(v.acked, ","), v.actor,
		v.at.bootID(), v.at.namespace,
		v.at.wall.Format("15:04:05.000"), v.at.mono, err)
	if err != nil {
		if after.Encode() != before.Encode() ||
			fmt.Sprint(after.effects) != fmt.Sprint(before.effects) {
			t.Fatalf("refused, but changed:\n%s\nwas:\n%s", after.Encode(), before.Encode())
		}

		expired := errors.Is(err, ErrExpired)
		if expired != (v.counts && before.State.Terminal() && m.counted == 2) {
			t.Fatalf("%v after %d edits of the countdown", err, m.counted)
		}
		if expired {
			m.again()
		}
		return false
	}

	m.begun = true
	m.checkEdit(t, v, before, after)
	m.checkTruth(t, v, before, after)
	decoded, err := Decode(after.Encode())
	if err != nil {
		t.Fatalf("its file is refused: %v\n%s", err, after.Encode())
	}

	checkDecoded(t, after, decoded)
	m.op = decoded

	return true
}
