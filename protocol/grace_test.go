package protocol

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"pgregory.net/rapid"
)

// A napper is an actor in a world that is frozen from time to time: it acts at times of its own,
// and late if it was frozen.
type napper struct {
	name  string
	every time.Duration // at most a third of the threshold, for those that send heartbeats
	next  time.Time
	stops bool // it does not go on after the freeze
	act   func(seen observe.Observation)
}

// TestFreeze freezes participants and observers together, for any time at any moment. Whichever
// continues first, and in whatever order the others follow, none that continues is declared stale,
// and one that does not continue is, soon after the window.
func TestFreeze(t *testing.T) {
	start := time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)
	const ms = time.Millisecond
	rapid.Check(t, func(r *rapid.T) {
		between := func(label string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(r, label)) * ms
		}

		op := Create("freeze", "", 0, 0)
		var victim *napper
		edit := func(after Operation, err error) {
			if err != nil {
				return // it is over, or archived
			}

			for _, f := range after.Stack {
				if stale := f.Crash != nil && f.Crash.Evidence == observe.Stale; stale &&
					(victim == nil || f.CallID != victim.name) {
					r.Fatalf("%s is called stale:\n%s", f.CallID, after.Encode())
				}
			}

			op = after
		}

		var all []*napper
		for i := range rapid.IntRange(1, 4).Draw(r, "participants") {
			p := &napper{name: fmt.Sprint("p", i), every: between("every", 500, 3333)}
			edit(op.Push(Push{Participant: p.name, Call: p.name}, observe.Observation{Now: start}))
			p.act = func(seen observe.Observation) {
				edit(op.Heartbeat(Actor{Call: p.name}, observe.Report{},
					seen))
			}
			all = append(all, p)
		}

		victim = rapid.SampledFrom([]*napper{nil, all[0]}).Draw(r, "that stays asleep")
		for range rapid.IntRange(0, 2).Draw(r, "janitors") {
			j := &napper{name: "janitor", every: between("pass", 500, 20_000)}
			j.act = func(seen observe.Observation) { edit(op.Cleanup("janitor", seen)) }
			all = append(all, j)
		}

		var vigil observe.Vigil
		watcher := &napper{name: "watcher", every: between("look", 500, 5000)}
		watcher.act = func(seen observe.Observation) {
			edit(op.Cleanup("watcher",
				vigil.Look(seen, op.StalenessThreshold)))
		}
		if rapid.Bool().Draw(r, "a watcher") {
			all = append(all, watcher)
		}

		for _, n := range all {
			n.next = start.Add(between("phase", 0, int(n.every/ms)))
		}

		freeze := start.Add(between("freeze", 0, 40_000))
		thaw := freeze.Add(between("for", 0, 60_000))
		if victim != nil {
			victim.stops = true
		}

		run := func(until time.Time) {
			for {
				n := slices.MinFunc(all, func(a, b *napper) int { return a.next.Compare(b.next) })
				switch {
				case n.next.After(until):
					return
				case n.stops && !n.next.Before(freeze):
					n.next = until.Add(time.Hour)
				case !n.next.Before(freeze) && n.next.Before(thaw):
					n.next = thaw.Add(between("waking "+n.name, 0, 1000)) // each at its own time
				default:
					if n.next.After(freeze.Add(-10 * time.Second)) {
						r.Logf("%6d ms: %s", n.next.Sub(start)/ms, n.name)
					}
					n.act(observe.Observation{Now: n.next, MonotonicMs: n.next.Sub(start).Milliseconds() +
						1, Host: observe.Host{ID: "h", BootID: "b"}})
					n.next = n.next.Add(n.every)
				}
			}
		}

		run(thaw.Add(90 * time.Second))
		if found := op.State != Running; found != (victim != nil && len(all) > 1) {
			r.Fatalf("frozen from %v to %v, it is %s:\n%s", freeze.Sub(start), thaw.Sub(start),
				op.State, op.Encode())
		}
	})
}

// A grace delays the time at which a participant goes stale.
func TestMortalsWithGrace(t *testing.T) {
	start := time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)
	op, err := Create("op", "", 0, 0).Push(Push{Participant: "p", Call: "c"},
		observe.Observation{Now: start})
	if err != nil {
		t.Fatal(err)
	}

	op, err = op.Cleanup("janitor", observe.Observation{Now: start.Add(12 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}

	mortals := op.Mortals(observe.Observation{Now: start.Add(15 * time.Second)})
	if len(mortals) != 1 || mortals[0].StaleIn != 7*time.Second {
		t.Errorf("got %+v, want one that is stale in 7s", mortals)
	}
}

// A window ends a threshold after it was granted, for who lives and has been silent since.
func TestWindow(t *testing.T) {
	start := time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)
	at := func(d time.Duration) observe.Observation {
		return observe.Observation{Now: start.Add(d)}
	}
	over := start.Add(22 * time.Second)
	vitals := observe.Vitals{LastHeartbeat: start,
		Grace: &observe.Grace{Of: start, At: start.Add(12 * time.Second)}}
	op := Operation{StalenessThreshold: 10 * time.Second}
	frame := Frame{State: FrameActive, Vitals: vitals}
	supervisor := Supervisor{Status: Alive, Vitals: vitals}

	for _, c := range []struct {
		after time.Duration
		want  time.Time
	}{
		{15 * time.Second, over}, {22 * time.Second, over},
		{22*time.Second + time.Millisecond, time.Time{}},
	} {
		for who, got := range map[string]time.Time{
			"call":       op.WindowOf(&frame, at(c.after)),
			"supervisor": op.WindowOfSupervisor(supervisor, at(c.after)),
		} {
			if !got.Equal(c.want) {
				t.Errorf("after %v that of the %s is over at %v, want %v", c.after, who, got,
					c.want)
			}
		}
	}

	frame.State, supervisor.Status = FrameCrashed, Dead
	seen := at(15 * time.Second)
	a, b := op.WindowOf(&frame, seen), op.WindowOfSupervisor(supervisor, seen)
	if !a.IsZero() || !b.IsZero() {
		t.Errorf("the dead have windows: %v, %v", a, b)
	}
}
