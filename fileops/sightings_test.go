package fileops

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A host is an observer with clocks of its own.
type host struct {
	name      string
	boots     int
	wall      time.Time
	monotonic int64
}

func (h *host) pass(d time.Duration) {
	h.wall = h.wall.Add(d)
	h.monotonic += d.Milliseconds()
}

func (h *host) look() observe.Observation {
	return observe.Observation{
		Watch: observe.Awake,
		Now:   h.wall, Host: observe.Host{ID: h.name, BootID: fmt.Sprint(h.name, h.boots)},
		MonotonicMs: h.monotonic,
	}
}

func twoHosts(apart time.Duration) (a, b *host) {
	return &host{"a", 1, linkEpoch, 1_000_000}, &host{"b", 1, linkEpoch.Add(apart), 77_000}
}

func (h *host) beat(t *testing.T, l *Ledger) {
	t.Helper()
	l.options.Observe = h.look
	editOp(t, l, func(op protocol.Operation, seen observe.Observation) (protocol.Operation,
		error) {
		return op.Heartbeat(protocol.Actor{Participant: "p"}, observe.Report{}, seen)
	})
}

func (h *host) tidy(t *testing.T, l *Ledger) protocol.Operation {
	t.Helper()
	l.options.Observe = h.look
	return editOp(t, l, func(op protocol.Operation, seen observe.Observation) (protocol.Operation,
		error) {
		return op.Cleanup("janitor", seen)
	})
}

func remotePush(t *testing.T, l *Ledger, h *host) {
	t.Helper()
	l.options.Observe = h.look
	editOp(t, l, func(op protocol.Operation, seen observe.Observation) (protocol.Operation,
		error) {
		return protocol.Create("op", "", 0, 0).Push(protocol.Push{Participant: "p", Call: "c"}, seen)
	})
}

func (h *host) register(t *testing.T, l *Ledger) {
	t.Helper()
	l.options.Observe = h.look
	_, err := l.EditGroup("g", OrCreate,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Register(group.Registration{Service: "s", By: "test", PID: 1}, seen)
		})
	must(t, err)
}

// A participant on another host is dead a threshold after its heartbeat was last seen to change,
// whatever the wall clocks say.
func TestAgesAcrossHosts(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"equal": 0, "ahead": time.Hour,
		"behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, linkedConfig, Options{})
			a, b := twoHosts(apart)
			remotePush(t, l, a)

			for range 20 {
				if op := b.tidy(t, l); op.State != protocol.Running {
					t.Fatalf("it is %s while its participant beats", op.State)
				}
				a.pass(7 * time.Second)
				b.pass(7 * time.Second)
				a.beat(t, l)
			}

			b.tidy(t, l)
			b.pass(protocol.DefaultStalenessThreshold)
			if op := b.tidy(t, l); op.State != protocol.Running {
				t.Errorf("it is %s at the threshold", op.State)
			}

			b.pass(time.Millisecond)
			if op := b.tidy(t, l); op.State != protocol.Cleanup {
				t.Errorf("it is %s after the threshold", op.State)
			}
		})
	}
}

// What an observer remembers is void after its own reboot, and if the file is invalid.
func TestSightingsBeginAnew(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, l *Ledger, b *host){
		"reboot": func(t *testing.T, l *Ledger, b *host) { b.boots, b.monotonic = 2, 5 },
		"torn": func(t *testing.T, l *Ledger, b *host) {
			must(t, os.WriteFile(layout.SightingsOf(l.OperationPath("op"), "b"), []byte("{"), 0o600))
		},
		"gone": func(t *testing.T, l *Ledger, b *host) {
			must(t,
				os.Remove(layout.SightingsOf(l.OperationPath("op"), "b")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, linkedConfig, Options{})
			a, b := twoHosts(0)
			remotePush(t, l, a)
			b.tidy(t, l)
			b.pass(time.Minute)
			lose(t, l, b)
			if op := b.tidy(t, l); op.State != protocol.Running {
				t.Errorf("it is %s at first sight", op.State)
			}

			b.pass(time.Minute)
			if op := b.tidy(t, l); op.State != protocol.Cleanup {
				t.Errorf("it is %s a minute later", op.State)
			}
		})
	}
}

// On a ledger used by one host nothing is remembered, nor a heartbeat whose age the host's own
// clock tells.
func TestNothingToRemember(t *testing.T) {
	t.Parallel()
	for _, config := range []Config{{Commit: CommitRename}, linkedConfig} {
		l := testLedger(t, config, Options{})
		a, b := twoHosts(0)
		remotePush(t, l, a)
		a.beat(t, l)
		if config.Commit == CommitRename {
			b.tidy(t, l)
		}

		for _, name := range namesIn(t, l.OperationsDir()) {
			if strings.Contains(name, ".seen~") {
				t.Errorf("commit %s: there is %s", config.Commit, name)
			}
		}
	}
}

func TestSweepForgetsWhatIsArchived(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	a, b := twoHosts(0)
	remotePush(t, l, a)
	b.tidy(t, l)
	must(t, os.WriteFile(layout.SightingsOf(l.OperationPath("op"), "b")+".tmp~"+"0", nil, 0o600))
	end(t, l, "c")
	must(t, l.Sweep())
	wantNames(t, l.OperationsDir(), "op.json.1", "op.json.2", "op.json.3", "op.json.4", "op.json.5",
		"op.json.origin")
	if _, err := l.EditOperation("op", Existing, cleaning); !errors.Is(err, ErrArchived) {
		t.Errorf("got %v", err)
	}
}

// The supervisors of a group on another host, and its orchestrator, are judged in the same way.
func TestAgesAcrossHostsInAGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	a, b := twoHosts(time.Hour)
	a.register(t, l)
	pass := func() (state group.ServiceState) {
		l.options.Observe = b.look
		must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
			seen := tx.Observe()
			d, err := plan.Pass(tx.Value(), plan.Request{Owner: "b", PID: 1,
				State: group.OrchestratorRunning}, seen)
			must(t, err)
			must(t, tx.Commit(d.Group()))
			state = tx.Value().Service("s").State
			return nil
		}))

		return state
	}

	if state := pass(); state != group.StateRunning {
		t.Errorf("it is %s at first sight", state)
	}

	b.pass(protocol.DefaultStalenessThreshold)
	if state := pass(); state != group.StateRunning {
		t.Errorf("it is %s at the threshold", state)
	}

	b.pass(time.Millisecond)
	if state := pass(); state == group.StateRunning {
		t.Errorf("it is %s after the threshold", state)
	}
}

// Whoever only reads judges by what an edit has kept, and learns whether there is more to keep.
func TestObservingWithoutAnEdit(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	a, b := twoHosts(time.Hour)
	remotePush(t, l, a)
	read := func() protocol.Operation {
		op, _, err := l.ReadOperation("op")
		must(t, err)
		return op
	}

	seen, news := l.ObserveOperation(read(), b.look())
	if op, err := read().Cleanup("janitor", seen); err != nil || op.State != protocol.Running ||
		!news {
		t.Errorf("at first sight it is %s (%v), news: %v", op.State, err, news)
	}

	b.tidy(t, l)
	b.pass(protocol.DefaultStalenessThreshold + time.Millisecond)
	seen, news = l.ObserveOperation(read(), b.look())
	if news {
		t.Error("what is kept is news")
	}
	if op, err := read().Cleanup("janitor", seen); err != nil || op.State != protocol.Cleanup {
		t.Errorf("it is %s (%v)", op.State, err)
	}
}

func TestObservingAGroupWithoutAnEdit(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	a, b := twoHosts(time.Hour)
	a.register(t, l)
	keep := func() {
		l.options.Observe = b.look
		must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error { tx.Observe(); return nil }))
	}

	keep()
	if g := readGroup(t, l, "g"); g.Deserted(l.ObserveGroup(g, b.look())) {
		t.Error("it is deserted at first sight")
	}

	b.pass(protocol.DefaultStalenessThreshold + time.Millisecond)
	if g := readGroup(t, l, "g"); !g.Deserted(l.ObserveGroup(g, b.look())) {
		t.Error("it is not deserted after the threshold")
	}
}

// If the memory cannot be stored, the error is reported but the edit is made.
func TestMemoryThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for call, suffix := range map[string]string{"create": ".seen~b.tmp~", "replace": ".seen~b"} {
		l, h := hookedLedger(t, linkedConfig, Options{})
		a, b := twoHosts(time.Hour)
		remotePush(t, l, a)
		h.Before = nth(t, 1, call, suffix, broken)
		if op := b.tidy(t, l); op.State != protocol.Running {
			t.Errorf("%s: it is %s", call, op.State)
		}
		if left := l.Leftovers(); len(left) != 1 || !errors.Is(left[0], errDisk) {
			t.Errorf("%s: leftovers %v", call, left)
		}

		wantNoTemps(t, l)
	}
}
