package runner_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/cmd/internal/silence"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A quietCall is a call whose command writes to log. The listener looks once a second.
type quietCall struct {
	*calls.Call
	t        *testing.T
	log      string
	listener *runner.Listener
}

func newQuietCall(t *testing.T, limits silence.Limits) *quietCall {
	t.Helper()
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), fileops.Config{},
		fileops.Options{Observe: func() observe.Observation {
			return observe.Observation{Now: time.Now()}
		}})
	if err != nil {
		t.Fatal(err)
	}

	q := &quietCall{t: t, log: filepath.Join(t.TempDir(), "log"),
		Call: &calls.Call{Ledger: l, Op: "build", Env: new(cli.Env),
			Push: protocol.Push{Call: "work", Participant: "agent"}}}
	q.edit(fileops.OrCreate, func(_ protocol.Operation, seen observe.Observation) (
		protocol.Operation, error) {
		return protocol.Create("build", "", 0, 0).Push(q.Push, seen)
	})

	output := new(silence.Output)
	if err := output.AddPath(q.log); err != nil {
		t.Fatal(err)
	}
	q.listener = runner.Listening(&cli.Env{Program: "dpl-run", Stderr: io.Discard}, q, q.IDs, output,
		limits)
	return q
}

func (q *quietCall) edit(mode fileops.Mode, verb fileops.Verb[protocol.Operation]) protocol.Operation {
	q.t.Helper()
	edit, err := q.Ledger.EditOperation("build", mode, verb)
	if err != nil {
		q.t.Fatal(err)
	}
	return edit.After
}

func (q *quietCall) sends(say func(protocol.Operation) observe.Report) protocol.Operation {
	q.t.Helper()
	return q.edit(fileops.Existing, func(op protocol.Operation, seen observe.Observation) (
		protocol.Operation, error) {
		return op.Heartbeat(protocol.Actor{Call: "work"}, say(op), seen)
	})
}

// says sends a heartbeat with readiness, as the command does.
func (q *quietCall) says(readiness observe.Readiness) {
	q.t.Helper()
	q.sends(func(protocol.Operation) observe.Report { return observe.Report{Readiness: readiness} })
}

// beats sends a heartbeat as the runner does, and returns the readiness after it.
func (q *quietCall) beats() observe.Readiness {
	q.t.Helper()
	op := q.sends(func(op protocol.Operation) observe.Report { return q.Report(op, observe.Report{}) })
	return op.Frame("work").Said().Readiness
}

func (q *quietCall) writes() {
	q.t.Helper()
	f, err := os.OpenFile(q.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		q.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("output\n"); err != nil {
		q.t.Fatal(err)
	}
}

func (q *quietCall) mustLook(want runner.News) {
	q.t.Helper()
	if got := q.listener.Look(); got != want {
		q.t.Errorf("got %+v, want %+v", got, want)
	}
}

// Output written before the command says that it is idle does not end that, even if one look finds
// both. Output after that does.
func TestOutputEndsIdle(t *testing.T) {
	t.Parallel()
	q := newQuietCall(t, silence.Limits{Stop: 20 * time.Second})
	q.writes()
	q.says(observe.ReadinessIdle)
	for range 100 {
		q.mustLook(runner.News{})
	}
	if got := q.beats(); got != observe.ReadinessIdle {
		t.Errorf("it became %s", got)
	}

	q.writes()
	q.mustLook(runner.Spoke())
	if got := q.beats(); got != observe.ReadinessReady {
		t.Errorf("it stays %s", got)
	}
	for range 19 {
		q.mustLook(runner.News{})
	}
	q.mustLook(runner.Silent(20 * time.Second))
}

// If the command is idle again before the runner could tell that it was not, it stays idle.
func TestIdleAgain(t *testing.T) {
	t.Parallel()
	q := newQuietCall(t, silence.Limits{Stop: 20 * time.Second})
	q.says(observe.ReadinessIdle)
	q.mustLook(runner.News{})
	q.writes()
	q.mustLook(runner.Spoke())
	q.says(observe.ReadinessReady)
	q.says(observe.ReadinessIdle)
	if got := q.beats(); got != observe.ReadinessIdle {
		t.Errorf("it became %s", got)
	}
}

// A reason to be silent stops the clock, whatever it is: also that the ledger cannot be read.
func TestExcuses(t *testing.T) {
	t.Parallel()
	for name, excuse := range map[string]runner.Excuse{
		"idle": {Idle: 7}, "question": {Asking: true}, "unreadable": {Unknown: true},
	} {
		q := newQuietCall(t, silence.Limits{Nudge: 20 * time.Second, Stop: 40 * time.Second})
		q.listener.Of(excused{q, excuse})
		for range 100 {
			q.mustLook(runner.News{})
		}
		if q.listener.Nudging() != nil {
			t.Errorf("%s: it was nudged", name)
		}

		q.listener.Of(q)
		for range 39 {
			q.mustLook(runner.News{})
		}
		if q.mustLook(runner.Silent(40 * time.Second)); q.listener.Nudging() == nil {
			t.Errorf("%s: it was never nudged", name)
		}
		<-q.listener.Nudging()
	}

	q := newQuietCall(t, silence.Limits{Stop: 10 * time.Second})
	if err := os.WriteFile(q.Ledger.OperationPath("build"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := q.Excuse(); !got.Unknown {
		t.Errorf("a corrupt operation: %+v", got)
	}
}

// excused is a call with an excuse.
type excused struct {
	*quietCall
	is runner.Excuse
}

func (e excused) Excuse() runner.Excuse { return e.is }
