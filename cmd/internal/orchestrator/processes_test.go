package orchestrator

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
)

// ending is a machine with survivors, one of which ends before it is signalled. No real one does so
// on demand.
type ending struct{ Machine }

func (ending) Survivors(protocol.Process, string, protocol.Process) ([]protocol.Process, error) {
	return []protocol.Process{{PID: 1}, {PID: 2}, {PID: 3}}, errors.New("process 4 shows nothing")
}

func (ending) SignalProcess(p protocol.Process, _ syscall.Signal) error {
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
	group := protocol.Group{Registry: protocol.Registry{Services: []protocol.Service{{ID: "s"}}}}
	o.signal(group, []protocol.Action{protocol.Signal{ServiceID: "s", Name: protocol.Term,
		To: protocol.ToSurvivors}})
	want := []string{
		`g: signal TERM to "s": process 4 shows nothing: the next pass looks again`,
		`g: signal TERM to "s": operation not permitted`,
	}

	if !slices.Equal(w.said, want) {
		t.Errorf("got %q, want %q", w.said, want)
	}
}

// group is a machine with a leader, 1, a member of its group, 2, and a daemon, 3.
type group struct {
	Machine
	leader error // the error of signalling the leader's group
	got    *[]int
}

func (group) Survivors(protocol.Process, string, protocol.Process) ([]protocol.Process, error) {
	return []protocol.Process{{PID: 1}, {PID: 2}, {PID: 3}}, nil
}

func (m group) SignalGroup(protocol.Process, syscall.Signal) error { return m.leader }

func (group) InGroup(p, leader protocol.Process) bool { return p.PID < 3 }

func (m group) SignalProcess(p protocol.Process, _ syscall.Signal) error {
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
		o := Orchestrator{Env: &warnings{}, Machine: group{leader: c.leader, got: &got}, Group: "g"}
		services := protocol.Registry{Services: []protocol.Service{{ID: "s"}}}
		o.signal(protocol.Group{Registry: services}, []protocol.Action{protocol.Signal{
			ServiceID: "s", Name: protocol.Term, To: protocol.ToGroup,
			Process: protocol.Process{PID: 1},
		}})

		if !slices.Equal(got, c.want) {
			t.Errorf("signal to the group: %v: got %v, want %v", c.leader, got, c.want)
		}
	}
}
