package orchestrator

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// ending is a machine with survivors, one of which ends before it is signalled. No real one does so
// on demand.
type ending struct{ Machine }

func (ending) Survivors(observe.Process, string, observe.Process) ([]observe.Process, error) {
	return []observe.Process{{PID: 1}, {PID: 2}, {PID: 3}}, errors.New("process 4 shows nothing")
}

func (ending) SignalProcess(p observe.Process, _ syscall.Signal) error {
	return map[int]error{1: syscall.EPERM, 2: process.ErrNoProcess}[p.PID]
}

type warnings struct {
	Env
	said []string
}

func (w *warnings) Warnf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

// The end of one survivor does not hide errors of the others, each on a line of its own.
func TestSignalSurvivors(t *testing.T) {
	t.Parallel()
	var w warnings
	o := Orchestrator{Env: &w, Machine: ending{}, Group: "g"}
	g := group.Group{Registry: group.Registry{Services: []group.Service{{ID: "s"}}}}
	o.signal(g, []plan.Action{plan.Signal{ServiceID: "s", Name: group.Term,
		To: plan.ToSurvivors}})
	want := []string{
		`g: signal TERM to "s": process 4 shows nothing: the next pass looks again`,
		`g: signal TERM to "s": operation not permitted`,
	}

	if !slices.Equal(w.said, want) {
		t.Errorf("got %q, want %q", w.said, want)
	}
}

// processGroup is a machine with a leader, 1, a member of its group, 2, and a daemon, 3.
type processGroup struct {
	Machine
	leader error // the error of signalling the leader's group
	got    *[]int
}

func (processGroup) Survivors(observe.Process, string, observe.Process) (
	[]observe.Process, error,
) {
	return []observe.Process{{PID: 1}, {PID: 2}, {PID: 3}}, nil
}

func (m processGroup) SignalGroup(observe.Process, syscall.Signal) error { return m.leader }

func (processGroup) InGroup(p, leader observe.Process) bool { return p.PID < 3 }

func (m processGroup) SignalProcess(p observe.Process, _ syscall.Signal) error {
	*m.got = append(*m.got, p.PID)
	return nil
}

// Processes outside the group also get the signal. If the leader has ended since the pass looked,
// every process gets it individually.
func TestSignalGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		leader error
		want   []int
	}{{nil, []int{3}}, {process.ErrNoProcess, []int{1, 2, 3}}} {
		var got []int
		o := Orchestrator{Env: &warnings{}, Group: "g",
			Machine: processGroup{leader: c.leader, got: &got}}
		services := group.Registry{Services: []group.Service{{ID: "s"}}}
		o.signal(group.Group{Registry: services}, []plan.Action{plan.Signal{
			ServiceID: "s", Name: group.Term, To: plan.ToGroup,
			Process: observe.Process{PID: 1},
		}})

		if !slices.Equal(got, c.want) {
			t.Errorf("signal to the group: %v: got %v, want %v", c.leader, got, c.want)
		}
	}
}
