//go:build linux

package queues

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// root is the module.
const root = "../.."

// bin is the directory of the commands.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "queues"); err == nil {
			defer os.RemoveAll(bin)
			err = build.CommandsIn(bin, root)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return programs.Run(m)
	}())
}

// place returns a place on the disk of the tests.
func place(t testing.TB, bin string, linked bool) Place {
	t.Helper()
	return Place{Bin: bin, Base: t.TempDir(), Linked: linked, Seed: rig.Seed(t)}
}

func TestCrowd(t *testing.T) {
	clients, period := 8, 3*time.Second
	if rig.Soak() {
		clients, period = 64, 2*time.Minute
	}

	for _, linked := range []bool{false, true} {
		t.Run(map[bool]string{false: "rename", true: "link"}[linked], func(t *testing.T) {
			w, err := crowd(place(t, bin, linked), clients, period)
			if err != nil {
				t.Fatal(err)
			}
			w.report(t)
			if missing := w.missing(); len(missing) > 0 {
				t.Errorf("it never happened: %q", missing)
			}
		})
	}
}

// report fails the test if something was found.
func (w *world) report(t testing.TB) {
	t.Helper()
	for i, fault := range w.faults {
		if i == 20 {
			t.Errorf("and %d more", len(w.faults)-i)
			break
		}
		t.Error(fault)
	}
	t.Logf("%d commands, %d revisions, %d claims, killed: %v, ends: %v", len(w.calls), w.q.Revision,
		w.q.LastEpoch, w.kills, w.q.Counters.Ends)
}

// TestHistories records what concurrent commands said, of which none was killed, and has porcupine
// explain it. Claimers are killed, which is an event of its own.
func TestHistories(t *testing.T) {
	histories, clients, commands := 2, 8, 150
	if rig.Soak() {
		histories, commands = 100, 400
	}

	for i := range histories {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			h, err := record(place(t, bin, i%2 == 1), clients, commands)
			if err != nil {
				t.Fatal(err)
			}
			h.w.report(t)
			if result := h.judge(); result != porcupine.Ok {
				t.Errorf("%s:\n%s", result, h.String())
			}
		})
	}
}
