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

// ending is a machine with survivors of which one ends before it is signalled, as no real one does when told to.
type ending struct{ Machine }

func (ending) Survivors(protocol.Process, []string) ([]protocol.Process, error) {
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

// That one survivor has ended meanwhile does not hide what is wrong with the others, each in a line of its own.
func TestSignalSurvivors(t *testing.T) {
	t.Parallel()
	var w warnings
	o := Orchestrator{Env: &w, Machine: ending{}, Group: "g"}
	group := protocol.Group{Registry: protocol.Registry{Supervisors: []protocol.Registered{{ID: "s"}}}}
	o.signal(group, []protocol.Action{{SupervisorID: "s", Signal: protocol.Term, To: protocol.ToSession}})
	want := []string{
		`g: signal TERM to "s": process 4 shows nothing: the next pass looks again`,
		`g: signal TERM to "s": operation not permitted`,
	}
	if !slices.Equal(w.said, want) {
		t.Errorf("got %q, want %q", w.said, want)
	}
}
