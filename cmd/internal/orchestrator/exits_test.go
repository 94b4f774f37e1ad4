package orchestrator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// finishing is a machine whose keeper completes its record, and ends, after the pass has read it.
type finishing struct {
	Machine
	reserved, complete string
}

func (finishing) Uptime() time.Duration { return time.Second }

func (m finishing) Exited(observe.Process) bool { return os.Rename(m.reserved, m.complete) == nil }

// A record that is completed between the look at it and the look at its keeper is not missed.
func TestExitsOfKeeperThatEnds(t *testing.T) {
	t.Parallel()
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), fileops.Config{},
		fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}

	const startID = "0123456789abcdef"
	seen := observe.Observation{Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "n"},
		Look: func(p observe.Process) observe.Presence {
			if p.PID == 7 {
				return observe.Gone
			}
			return observe.Present
		}}
	service := observe.Process{PID: 7, HostID: "h", BootID: "b", PIDNamespace: "n", StartTicks: 1}
	keeper := service
	keeper.PID = 8
	path, err := l.ReserveExit("g", group.ExitRecord{ServiceID: "s", StartID: startID, PID: 7,
		Process: service, Phase: group.PhaseExec})
	if err != nil {
		t.Fatal(err)
	}

	var s group.Service
	s.ID, s.StartID, s.Keeper, s.PID, s.Process = "s", startID, keeper, 7, service
	g := group.Group{Registry: group.Registry{Services: []group.Service{s}}}
	o := Orchestrator{Ledger: l, Group: "g",
		Machine: finishing{reserved: path, complete: l.ExitPath("g", "s", startID)}}
	if x, found := o.Exits(g, seen)("s", startID); !found || !x.Complete {
		t.Errorf("got %+v, %v", x, found)
	}
}
