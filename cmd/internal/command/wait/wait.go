package wait

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// The states of what has no state of its own.
const (
	notThere = "not there" // a missing operation, call or service
	removed  = "removed"   // a service that was there
)

// A target is one thing to wait for.
type target struct {
	id      string // of the operation, call or service
	outcome observe.Outcome
	state   string
	since   int64 // for an operation: only changes after this revision count
}

// A waiter waits for its targets.
type waiter struct {
	env     *cli.Env
	life    *follow.Life // for which it waits, or nil
	ledger  *fileops.Ledger
	goal    protocol.Goal
	any     bool
	ended   bool // whether services must end; otherwise they, or calls, must be ready
	timeout time.Duration
	over    <-chan time.Time // fires when the timeout is over; nil: never
	within  string           // the operation or group of the targets; "": they are operations
	read    func() error     // reads the targets and sets their outcomes and states
	targets []*target
	missing <-chan time.Time // fires once, when it is time to name services that are not there

	notifier *notify.Notifier
	alive    []protocol.Operation // the operations that are not over, as last read
	janitors map[string]*janitor  // by operation
	deaths   *follow.Deaths       // of participants
}

// open opens the ledger. If mayBegin, it waits until there is one.
func (w *waiter) open(mayBegin bool) (*fileops.Ledger, error) {
	const pause = 20 * time.Millisecond
	for {
		l, err := w.env.Open()
		if !errors.Is(err, fileops.ErrNoLedger) || !mayBegin {
			return l, err
		}
		if err := w.life.Err(w.env.Observer()()); err != nil {
			return nil, err
		}

		select {
		case <-time.After(pause):
		case <-w.over:
			return nil, fmt.Errorf("%w after %v: %v", cli.ErrTimeout, w.timeout, err)
		}
	}
}

func (w *waiter) close() {
	w.notifier.Close()
	w.deaths.Watch(nil)
}

// wait returns once the targets have reached the goal, or cannot reach it any more, or the timeout
// is over.
func (w *waiter) wait() error {
	for {
		w.notifier.Arm()
		w.alive = w.alive[:0]
		if err := w.read(); err != nil {
			return err
		}
		if done, err := w.judge(); done {
			return err
		}

		longest := w.tidy()
		if err := w.life.Err(w.env.Observer()()); err != nil {
			return err
		}
		again := time.NewTimer(longest)
		select {
		case <-w.notifier.C():
		case <-w.deaths.C():
		case <-w.life.Done():
		case <-again.C:
		case <-w.missing:
			w.nameMissing()
		case <-w.over:
			w.print()
			return fmt.Errorf("%s: %w after %v", w.list(observe.Pending), cli.ErrTimeout,
				w.timeout)
		}

		again.Stop()
	}
}

// judge reports whether the wait is over, and returns its error if so.
func (w *waiter) judge() (done bool, err error) {
	met, impossible := w.count(observe.Met), w.count(observe.Impossible)
	enough, never := len(w.targets), 1
	if w.any {
		enough, never = 1, len(w.targets)
	}

	switch {
	case met >= enough:
		w.print()
		return true, nil
	case impossible >= never:
		w.print()
		return true, fmt.Errorf("%s: %w", w.list(observe.Impossible), cli.ErrImpossible)
	}

	return false, nil
}

// nameMissing names the services that are not registered: a name may be mistyped.
func (w *waiter) nameMissing() {
	var all []string
	for _, t := range w.targets {
		if t.state == notThere {
			all = append(all, strconv.Quote(t.id))
		}
	}

	if len(all) > 0 {
		w.env.Warnf("%s: wait for %s: not registered yet: dpl-register --group %s --service ID",
			w.within, strings.Join(all, ", "), w.within)
	}
}

func (w *waiter) count(o observe.Outcome) (n int) {
	for _, t := range w.targets {
		if t.outcome == o {
			n++
		}
	}
	return n
}

// list returns the targets with outcome o and their states.
func (w *waiter) list(o observe.Outcome) string {
	var all []string
	for _, t := range w.targets {
		if t.outcome == o {
			all = append(all, t.id+" is "+t.state)
		}
	}

	const most = 3
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}

	text := strings.Join(all, ", ")
	if w.within != "" {
		text = w.within + ": " + text
	}
	return text
}

// tidy lets the janitors examine the operations, and returns how long to wait at most before the
// next look.
func (w *waiter) tidy() time.Duration {
	seen := w.env.Observer()()
	mortals, again := w.life.Watch(seen)
	if w.env.MayEdit() {
		w.life.LookAfter(w.env.Program)
	}
	for _, op := range w.alive {
		for _, m := range op.Mortals(seen) {
			mortals = append(mortals, m.Process)
		}
	}

	w.deaths.Watch(mortals) // before judging them, so that no death goes unnoticed
	for _, op := range w.alive {
		remembered, news := w.ledger.ObserveOperation(op, seen)
		again = min(again, w.janitors[op.ID].look(op, remembered, news))
	}
	return again
}

func (w *waiter) readOperations() error {
	for _, t := range w.targets {
		op, err := w.readOperation(t.id)
		if errors.Is(err, fileops.ErrNotFound) && w.goal.MayBegin() && t.state == notThere {
			continue
		}
		if err != nil {
			return err
		}
		if t.since == fromNow {
			t.since = op.Revision
		}

		t.outcome, t.state = op.Wait(w.goal, t.since), string(op.State)
	}

	return nil
}

func (w *waiter) readCalls() error {
	op, err := w.readOperation(w.within)
	for _, t := range w.targets {
		t.outcome, t.state = op.WaitReady(t.id), notThere
		if f := op.Frame(t.id); f != nil {
			t.state = string(f.State)
		}
	}
	return err
}

func (w *waiter) readServices() error {
	g, seen, err := w.ledger.WitnessGroup(w.within, w.env.Observer())
	if err != nil {
		return cli.Named("wait", w.within, "", err)
	}

	for _, t := range w.targets {
		switch s := g.Service(t.id); {
		case s != nil:
			t.outcome, t.state = g.WaitReady(t.id, seen), string(s.State)
		case t.state != notThere:
			t.outcome, t.state = observe.Impossible, removed
		}
	}

	return nil
}

// readEnded reads the services that must end. One that was there and is no more has ended.
func (w *waiter) readEnded() error {
	g, err := w.ledger.ReadGroup(w.within)
	if err != nil {
		return cli.Named("wait", w.within, "", err)
	}

	for _, t := range w.targets {
		outcome, err := g.WaitEnded(t.id)
		switch {
		case err != nil && t.state == notThere:
			return cli.Named("wait", w.within, t.id, err)
		case err != nil:
			t.outcome, t.state = observe.Met, removed
		default:
			t.outcome, t.state = outcome, string(g.Service(t.id).State)
		}
	}

	return nil
}

// readOperation reads an operation. It adds it to alive if it is not over.
func (w *waiter) readOperation(id string) (protocol.Operation, error) {
	op, archived, err := w.ledger.ReadOperation(id)
	if err == nil && !archived && !op.State.Terminal() {
		w.alive = append(w.alive, op)
	}
	return op, cli.Named("wait", id, "", err)
}

// print prints the targets that have reached the goal, or all with --json.
func (w *waiter) print() {
	if w.env.JSON() {
		results := []cli.Object{}
		for _, t := range w.targets {
			results = append(results, cli.Object{{"id", t.id},
				{"state", t.state}, {"outcome", t.outcome}})
		}
		w.env.PrintJSON(cli.Object{{"targets", results}})
		return
	}

	for _, t := range w.targets {
		switch {
		case !w.any || t.outcome != observe.Met:
		case w.within != "" && !w.ended:
			fmt.Fprintln(w.env.Stdout, t.id, "ready")
		default:
			fmt.Fprintln(w.env.Stdout, t.id, t.state)
		}
	}
}
