// Package linearize tests that the effects of concurrent dpl processes on an operation can be
// explained by running them one after the other in a small model of the protocol (spec §4 and §5):
//
//	TestHistories   records what many concurrent processes do and say, some of them killed; porcupine judges it
//	TestOrder       makes it judge invented histories
//	TestSeededRaces runs commands with a bug, such as a lock that excludes no one; no history may be legal
//	TestMachine     runs one process at a time; rapid looks for commands that contradict the model
//	TestSeededBugs  does so with commands that have a bug, which must be found
//
// The model is written from the spec and shares no code with package protocol. Each commit prints
// its revision, and that is part of the model: without it the order of the calls on a stack cannot
// be found in reasonable time.
//
// DPL_SEED=N repeats the plans of a run that has printed N. When processes are killed, and the
// order in which the system runs them, differ each time. DPL_SOAK=1 runs more than CI has time for:
// 200 histories of 32 workers, or $DPL_HISTORIES.
package linearize

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// root is the module.
const root = "../.."

// A mode is a kind of ledger.
type mode struct {
	name   string
	create []string // flags of the push that makes the ledger
	hint   bool     // operations/ID.json may be older than what dpl-status shows
	share  int      // of the tests, one in so many
}

var modes = []mode{
	{name: "rename", share: 1},
	{name: "link", create: []string{"--commit=link"}, hint: true, share: 3},
}

func TestMain(m *testing.M) { os.Exit(programs.Run(m)) }

func TestHistories(t *testing.T) {
	bin := build.Commands(t, root)
	size, histories := size{workers: 8, edits: 150}, 6
	if rig.Soak() {
		size, histories = sizeOfSoak(t)
	}

	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			seed, all := rig.Seed(t), tally{}
			for i := range max(histories/m.share, 1) {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					h := record(t, bin, m, size, seed+uint64(i))
					if faults := h.faults(); len(faults) > 0 {
						h.fail(t, faults)
					}
					if rig.Soak() {
						t.Log(h.tally())
					}
					all.add(h)
				})
			}

			t.Log(all)
			covered(t, all)
		})
	}
}

// sizeOfSoak is 200 histories of 32 workers, or $DPL_HISTORIES of them.
func sizeOfSoak(t *testing.T) (size, int) {
	histories := 200
	if given := os.Getenv("DPL_HISTORIES"); given != "" {
		var err error
		if histories, err = strconv.Atoi(given); err != nil {
			t.Fatalf("DPL_HISTORIES: %v", err)
		}
	}
	return size{workers: 32, edits: 2000}, histories
}

// covered fails a test whose histories have left out something.
func covered(t *testing.T, all tally) {
	t.Helper()
	for _, what := range []string{
		"operations completed", "operations failed", "operations aborted", "operations archived",
		"crashes reported", "edits by push",
		"edits by heartbeat", "edits by pop", "edits by ack", "edits by abort", "edits by cleanup",
		"silent", "refused with 76",
	} {
		if all[what] == 0 {
			t.Errorf("not one of the histories has %q", what)
		}
	}

	if all["killed"]*10 < all["processes"] {
		t.Errorf("%d of %d processes were killed, want one in ten at least", all["killed"],
			all["processes"])
	}
}

// setFlag sets a flag of the test binary for the time of a test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { flag.Set(name, before) })
}
