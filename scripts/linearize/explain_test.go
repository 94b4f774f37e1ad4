package linearize

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience limits the time of porcupine for one operation, which normally needs a small part of it.
const patience = time.Minute

// explained is the state of the model after the commands with the places up to place.
type explained struct {
	operation
	place int
}

// model returns what porcupine judges orders with.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return explained{} },
		Step: func(state, input, output any) (bool, any) {
			before, c := state.(explained), input.(placed)
			if c.place != before.place+1 {
				return false, nil
			}
			after, foreseen := before.do(c.command)
			return foreseen.equal(output.(answer)), explained{after, c.place}
		},
		Equal: func(a, b any) bool {
			return a.(explained).place == b.(explained).place &&
				a.(explained).equal(b.(explained).operation)
		},
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%v: %v", input,
				output)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// judge returns the operations whose history is illegal, with the reason, and those for which that
// is unknown.
func (h *history) judge() (illegal, unknown []string) {
	began := time.Now()
	defer func() { h.judged = time.Since(began) }()

	for _, id := range slices.Sorted(maps.Keys(h.events)) {
		ordered, why, err := order(h.events[id])
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s: unknown: %v", id, err))
			continue
		}

		switch porcupine.CheckOperationsTimeout(model(), ordered, patience) {
		case porcupine.Ok:
			h.found += silent(h.events[id]) - (len(h.events[id]) - len(ordered))
		case porcupine.Illegal:
			illegal = append(illegal, fmt.Sprintf("%s: illegal: %s", id, why))
		case porcupine.Unknown:
			unknown = append(unknown, fmt.Sprintf("%s: unknown: porcupine took more than %v", id,
				patience))
		}
	}

	return illegal, unknown
}

// silent returns how many of events are killed commands that said nothing.
func silent(events []porcupine.Operation) (n int) {
	for _, e := range events {
		if e.Output.(answer).silent {
			n++
		}
	}
	return n
}

// faults returns all that is wrong with a history.
func (h *history) faults() (faults []string) {
	for _, err := range h.errs {
		faults = append(faults, err.Error())
	}

	illegal, unknown := h.judge()
	faults = slices.Concat(faults, illegal, unknown)
	for id := range h.events {
		faults = append(faults, h.wrongFile(id)...)
	}
	return append(faults, h.untidy()...)
}

// wrongFile returns the faults in the file of an operation: it must have the last state shown, and
// the events of the last acknowledged pushes.
func (h *history) wrongFile(id string) (faults []string) {
	path, shown := filepath.Join(h.shell.ledger, "operations", id+".json"), h.shown(id)
	switch shown.place {
	case nowhere:
		return nil
	case archived:
		path = filepath.Join(h.shell.ledger, "archive", id+".json")
	}

	d, text, err := read(path)
	if err != nil {
		return []string{err.Error()}
	}
	if err := checkSchema(text); err != nil {
		faults = append(faults, fmt.Sprintf("%s: %v", path, err))
	}
	if got := d.operation(shown.place == archived); !h.mode.hint && !got.equal(shown) {
		faults = append(faults, fmt.Sprintf("%s: got %+v, want %+v", path, got, shown))
	}
	if h.mode.hint || len(d.Events) == 0 {
		return faults
	}

	started := map[string]int64{}
	for _, e := range d.Events {
		if e.Type == "callStarted" {
			started[fmt.Sprint(e.CallID, " ", e.Revision)] = e.Revision
		}
	}

	for _, e := range h.events[id] {
		c, a := e.Input.(command), e.Output.(answer)
		if c.verb == "push" && a.changed && a.revision > d.Events[0].Revision &&
			started[fmt.Sprint(c.call, " ", a.revision)] == 0 {
			faults = append(faults, fmt.Sprintf("%s: has no event of %v: %+v", path, c, a))
		}
	}

	return faults
}

// shown returns the last state of an operation that dpl-status has shown.
func (h *history) shown(id string) operation {
	events := h.events[id]
	last := slices.MaxFunc(events,
		func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	if shown := last.Output.(answer).shown; shown != nil {
		return *shown
	}
	return operation{}
}

// untidy returns what killed commands have left behind in spite of the cleanup, and files that are
// not JSON.
func (h *history) untidy() (faults []string) {
	dir := filepath.Join(h.shell.ledger, "operations")
	names, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}

	for _, e := range names {
		name := e.Name()
		switch text, err := os.ReadFile(filepath.Join(dir, name)); {
		case err != nil:
			faults = append(faults, err.Error())
		case filepath.Ext(name) == ".lock":
			if _, err := os.Lstat(filepath.Join(dir, name[:len(name)-len(".lock")])); errors.Is(err,
				os.ErrNotExist) {
				faults = append(faults, name+": is the lock of nothing")
			}
		case filepath.Ext(name) == ".json" && !json.Valid(text):
			faults = append(faults, name+": is not JSON")
		case filepath.Ext(name) != ".json" && !h.mode.hint:
			faults = append(faults, name+": was left behind")
		}
	}

	return faults
}

func (h *history) fail(t *testing.T, faults []string) {
	t.Helper()
	if n := len(faults); n > 10 {
		faults = append(faults[:10], fmt.Sprintf("and %d more", n-10))
	}
	for _, fault := range faults {
		t.Error(fault)
	}
	t.Fatalf("DPL_SEED=%d: %v", h.seed, h.tally())
}
