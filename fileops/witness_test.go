package fileops

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An observer takes an exit record into the group that it sees, and reads the group again if a pass
// has taken the record meanwhile (spec §19.6).
func TestWitnessGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	here := observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"}
	p := observe.Process{PID: 5, HostID: "h", BootID: "b", PIDNamespace: "1", StartTicks: 7}
	keeper := p
	keeper.PID = 6
	const startID = "0123456789abcdef"
	state := func(s group.ServiceState) Verb[group.Group] {
		return func(g group.Group, _ observe.Observation) (group.Group, error) {
			g = group.Create("g")
			entry := group.Service{ID: "s"}
			entry.Restart, entry.Order = policy.Permanent, 1
			entry.Notice.Readiness = observe.ReadinessReady
			entry.State, entry.StartID, entry.Keeper = s, startID, keeper
			entry.SetProcess(p.PID, p)
			g.Registry.Services = []group.Service{entry}
			g.Registry.Revision = int64(len(s))
			return g, nil
		}
	}
	edit := func(s group.ServiceState) {
		t.Helper()
		if _, err := l.EditGroup("g", OrCreate, state(s)); err != nil {
			t.Fatal(err)
		}
	}
	edit(group.StateRunning)

	looks := 0
	observer := func() observe.Observation {
		looks++
		return observe.Observation{Now: time.Now(), Host: here,
			Look: func(observe.Process) observe.Presence { return observe.Gone }}
	}
	if g, _, err := l.WitnessGroup("g", observer); err != nil || g.Settled("s") != "" || looks != 2 {
		t.Errorf("without a record: %q, %d looks, %v", g.Settled("s"), looks, err)
	}

	x := group.ExitRecord{ServiceID: "s", StartID: startID, PID: p.PID, Process: p,
		Phase: group.PhaseEnded, End: policy.Exit{At: time.Now(), Reason: policy.Exited,
			Code: policy.CodeExited, Status: 7}}
	path, err := l.ReserveExit("g", x)
	if err != nil {
		t.Fatal(err)
	}
	complete := l.ExitPath("g", "s", startID)
	if err := os.Rename(path, complete); err != nil {
		t.Fatal(err)
	}
	looks = 0
	g, seen, err := l.WitnessGroup("g", observer)
	if s := g.Service("s"); err != nil || g.Settled("s") != observe.Exited || s.Ended.Status != 7 ||
		g.Is(s, group.StateRunning, seen) || looks != 1 {
		t.Errorf("with a record: %q, %+v, %d looks, %v", g.Settled("s"), s.Ended, looks, err)
	}

	looks = 0
	taken := func() observe.Observation { // a pass takes the record as the observer looks
		if looks == 0 {
			os.Remove(complete)
			edit(group.StateCompleted)
		}
		return observer()
	}
	g, _, err = l.WitnessGroup("g", taken)
	if err != nil || g.Service("s").State != group.StateCompleted || looks != 2 {
		t.Errorf("with a record that is taken: %s, %d looks, %v", g.Service("s").State, looks, err)
	}

	if _, _, err := l.WitnessGroup("h", observer); !errors.Is(err, ErrNoGroup) {
		t.Errorf("no group: got %v", err)
	}
}

// What is nowhere because the ledger is gone is missing, and so is the ledger.
func TestMissingLedger(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if _, _, err := l.ReadOperation("o"); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoLedger) {
		t.Errorf("with a ledger: got %v", err)
	}
	if _, err := l.EditOperation("other", OrCreate,
		func(protocol.Operation, observe.Observation) (protocol.Operation, error) {
			return protocol.Create("other", "", 0, 0).Push(protocol.Push{Call: "c", Participant: "p"},
				observe.Observation{Now: time.Now()})
		}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(l.MarkerPath()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.ReadOperation("o"); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoLedger) {
		t.Errorf("without its marker: got %v", err)
	}
	if err := os.RemoveAll(l.Dir()); err != nil {
		t.Fatal(err)
	}
	_, _, err := l.ReadOperation("o")
	if !errors.Is(err, ErrNotFound) || !errors.Is(err, ErrNoLedger) ||
		err.Error() != "no such ledger: "+l.Dir() {
		t.Errorf("without: got %v", err)
	}
}
