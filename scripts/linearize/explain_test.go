package linearize

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long porcupine may look for an explanation of one operation.
const patience = time.Minute

var hashSeed = maphash.MakeSeed()

// model returns what porcupine explains histories with. After a command that said nothing there are two states.
func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{operation{}} },
		Step: func(state, input, output any) []any {
			before, said := state.(operation), output.(answer)
			after, foreseen := before.do(input.(command))
			switch {
			case said.silent && foreseen.changed:
				return []any{before, after}
			case said.silent || foreseen.equal(said):
				return []any{after}
			}
			return nil
		},
		Equal: func(a, b any) bool { return a.(operation).equal(b.(operation)) },
		Hash: func(state any) uint64 {
			o := state.(operation)
			return maphash.Comparable(hashSeed, [3]int64{o.revision, int64(o.place), int64(len(o.stack))})
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v: %+v", input, output) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
	return m.ToModel()
}

// illegal returns, of each operation whose history is not explained, why.
func (h *history) illegal() (faults []string) {
	for _, id := range slices.Sorted(maps.Keys(h.events)) {
		result := porcupine.CheckOperationsTimeout(model(), h.events[id], patience)
		if result == porcupine.Ok {
			continue
		}
		path, why := h.visualize(id)
		faults = append(faults, fmt.Sprintf("%s: %s: see %s: %s", id, result, path, why))
	}
	return faults
}

// visualize writes how far the history of an operation is explained, and returns where, and what comes next.
func (h *history) visualize(id string) (path, why string) {
	_, info := porcupine.CheckOperationsVerbose(model(), h.events[id], patience)
	path = filepath.Join(os.TempDir(), fmt.Sprintf("dpl-linearize-%d-%s.html", h.seed, id))
	if err := porcupine.VisualizePath(model(), info, path); err != nil {
		path = err.Error()
	}
	return path, stuck(info, h.events[id])
}

// lost returns the edits that were acknowledged and overwritten: two of one revision; and revisions that nobody made.
func (h *history) lost() (faults []string) {
	for id, events := range h.events {
		made, unknown, last := map[int64]command{}, 0, int64(0)
		for _, e := range events {
			c, a := e.Input.(command), e.Output.(answer)
			if a.shown != nil {
				last = max(last, a.shown.revision)
			}
			switch counts := c.verb == "heartbeat" && a.status == 4; {
			case a.silent, a.changed && counts: // the heartbeat that archives keeps the revision
				unknown++
				continue
			case !a.changed, a.archived:
				continue
			}
			if other, ok := made[a.revision]; ok {
				faults = append(faults, fmt.Sprintf("%s: revision %d was made twice, by %v and by %v", id, a.revision, other, c))
			}
			made[a.revision] = c
		}
		if n := int64(len(made)); last < n || last > n+int64(unknown) {
			faults = append(faults, fmt.Sprintf("%s: is at revision %d after %d acknowledged edits and at most %d others", id, last, n, unknown))
		}
	}
	slices.Sort(faults)
	return faults
}

// faults returns all that is wrong with a history.
func (h *history) faults() (faults []string) {
	for _, err := range h.errs {
		faults = append(faults, err.Error())
	}
	faults = append(faults, h.illegal()...)
	faults = append(faults, h.lost()...)
	for id := range h.events {
		faults = append(faults, h.wrongFile(id)...)
	}
	return append(faults, h.untidy()...)
}

// wrongFile returns what is wrong with the file of an operation: it is the last state shown, and has the events of the last
// acknowledged pushes.
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
		if c.verb == "push" && a.changed && a.revision > d.Events[0].Revision && started[fmt.Sprint(c.call, " ", a.revision)] == 0 {
			faults = append(faults, fmt.Sprintf("%s: has no event of %v: %+v", path, c, a))
		}
	}
	return faults
}

// shown returns the last state of an operation that dpl-status has shown.
func (h *history) shown(id string) operation {
	events := h.events[id]
	last := slices.MaxFunc(events, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	if shown := last.Output.(answer).shown; shown != nil {
		return *shown
	}
	return operation{}
}

// untidy returns what the killed commands have left behind in spite of the cleanup, and files that are not JSON.
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
			if _, err := os.Lstat(filepath.Join(dir, name[:len(name)-len(".lock")])); errors.Is(err, os.ErrNotExist) {
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
