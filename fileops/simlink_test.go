package fileops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// linkSteps are edits of one operation: the last but one of a countdown archives it, and the last
// starts it over.
var linkSteps = []Verb[protocol.Operation]{pushing("a"), pushing("b"), popping("a"), popping("b"),
	cleaning, cleaning, cleaning, pushing("c")}

// linkRun makes all steps up to one, that one with a fault, and then perhaps loses power.
type linkRun struct {
	step  int
	p     *simfs.Process
	power *rand.Rand
	group bool
}

func (r linkRun) edit(l *Ledger, step int) error {
	if r.group {
		return l.HoldGroup("g", OrCreate, func(tx *GroupTx) error {
			return errors.Join(registering(fmt.Sprint("s", step))(tx),
				registering(fmt.Sprint("t", step))(tx))
		})
	}
	_, err := l.EditOperation("op", OrCreate, linkSteps[step])
	return err
}

// shows is what a reader sees: the revision, and how many calls or supervisors there are.
func (r linkRun) shows(l *Ledger) (string, error) {
	if r.group {
		g, err := l.ReadGroup("g")
		if errors.Is(err, ErrNoGroup) {
			err = nil
		}
		return fmt.Sprint(g.Registry.Revision, len(g.Registry.Services)), err
	}

	op, archived, err := l.ReadOperation("op")
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return fmt.Sprint(op.Revision, openCalls(op), archived), err
}

func (r linkRun) open(p *simfs.Process) (*Ledger, error) {
	return Create(simLedger, linkedConfig, Options{FS: p}) // there is no one to wait for
}

// states returns what is seen before and after the step.
func (r linkRun) states(d *simfs.Disk) (before, after string, err error) {
	l, err := r.open(&simfs.Process{Disk: d})
	for step := 0; err == nil && step <= r.step; step++ {
		before, _ = r.shows(l)
		err = r.edit(l, step)
	}

	if err == nil {
		after, err = r.shows(l)
	}
	return before, after, err
}

func (r linkRun) run() error {
	before, after, err := r.states(simfs.New())
	if err != nil {
		return fmt.Errorf("without a fault: %w", err)
	}

	r.p.Disk = simfs.New()
	l, err := r.open(&simfs.Process{Disk: r.p.Disk})
	for step := 0; err == nil && step < r.step; step++ {
		err = r.edit(l, step)
	}

	if err != nil {
		return err
	}

	r.p.Disk.Flush()
	survived := r.p.Run(func() {
		if l, err = r.open(r.p); err == nil {
			err = r.edit(l, r.step)
		}
	})

	if r.power != nil {
		r.p.Disk.PowerLoss(r.power)
	}

	return r.judge(before, after, survived && !excuses(r.p.Fault, err), err)
}

func (r linkRun) judge(before, after string, survived bool, err error) error {
	l, openErr := r.open(&simfs.Process{Disk: r.p.Disk})
	if openErr != nil {
		return fmt.Errorf("next command: %w", openErr)
	}

	got, readErr := r.shows(l)
	if readErr != nil {
		return readErr
	}

	half := r.group && strings.Split(got, " ")[0] < strings.Split(after, " ")[0] &&
		strings.Split(got, " ")[0] > strings.Split(before, " ")[0]
	undone := r.power != nil && errors.Is(err, ErrCommitted)
	switch {
	case got != before && got != after && !half:
		return fmt.Errorf("it was %s, is %s, and should be %s", before, got, after)
	case survived && got != after && !undone && !half &&
		(err == nil || errors.Is(err, ErrCommitted)):
		return fmt.Errorf("it said %v, but there is %s, not %s", err, got, after)
	case survived && got == after && err != nil && !errors.Is(err, ErrCommitted) && !r.group:
		return fmt.Errorf("it said %w, but there is %s", err, got)
	}

	if err := errors.Join(l.Sweep(), l.Sweep(), r.again(l)); err != nil {
		return err
	}
	if left := leftoversOn(r.p.Disk); len(left) > 0 {
		return fmt.Errorf("left after the sweep: %v", left)
	}

	return nil
}

// again shows that the next edit goes on.
func (r linkRun) again(l *Ledger) error {
	if r.group {
		return l.HoldGroup("g", OrCreate, registering("next"))
	}

	_, err := l.EditOperation("op", OrCreate,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			if op.State.Terminal() {
				return op, nil
			}
			return pushing("next")(op, observe.Observation{})
		})

	return err
}

// Every fault at every system call of edits that commit by link.
func TestEveryFaultOfALink(t *testing.T) {
	t.Parallel()
	for step := range linkSteps {
		for _, group := range []bool{false, true} {
			if group && step > 1 {
				continue
			}

			t.Run(fmt.Sprint(step, group), func(t *testing.T) {
				t.Parallel()
				broken, runs := everyLinkFault(linkRun{step: step, group: group})
				for _, err := range broken {
					t.Error(err)
				}
				t.Logf("%d runs, %d failed", runs, len(broken))
			})
		}
	}
}

func everyLinkFault(r linkRun) (broken []error, runs int) {
	return everyFault(simfs.Process{}, 3, func(p *simfs.Process, power *rand.Rand) error {
		r.p, r.power = p, power
		return r.run()
	})
}
