//go:build linux

package faults

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A place is where commands meet: the files before, and the commands. All start at the same moment.
type place struct {
	name  string
	setup []step
	who   []step
	// the number of commands that are stopped after every call; the others only after some, unless
	// it is a soak
	core int
}

func places() []place {
	reuse := at(11, "dpl-push --op o --participant x --call new --reuse")
	reuse.first = &cleanOne
	return []place{
		{"operation", []step{
			pushMain, pushChat, supervise, at(8, "dpl-heartbeat --op o --participant cli"),
			at(8, "dpl-heartbeat --op o --participant vscode"),
			at(15, "dpl-heartbeat --op o --supervisor s"),
			at(15, "dpl-push --op o --participant tool --call late --no-fail-on-crash"),
		}, []step{
			at(17, "dpl-push --op o --participant x --call new"),
			at(17, "dpl-pop --op o --call chat"),
			at(17, "dpl-heartbeat --op o --participant cli"),
			at(17, "dpl-push --op o --participant y --call tmp --tmp"),
			at(17, "dpl-abort --op o"),
			at(17, "dpl-cleanup --op o --supervisor s --ack job"),
			at(17, "dpl-heartbeat --op o --supervisor s"),
		}, 3},
		{"crash", []step{pushMain, pushChat, at(8, "dpl-heartbeat --op o --participant cli")},
			[]step{
				at(12, "dpl-cleanup"),
				at(12, "dpl-heartbeat --op o --participant cli"),
				at(12, "dpl-pop --op o --call chat --fail"),
				at(12, "dpl-push --op o --participant x --call new"),
			}, 1},
		{"end", []step{pushMain, popMain, cleanOne, cleanOne}, []step{
			cleanOne,
			at(11, "dpl-heartbeat --op o --participant cli"),
			at(11, "dpl-push --op o --participant x --call new"),
			reuse,
			at(11, "dpl-pop --op o --call main"),
			at(11, "dpl-abort --op o"),
			at(11, "dpl-cleanup"),
		}, 2},
		{"nothing", nil, []step{
			at(0, "dpl-push --op o --participant cli --call main"),
			at(0, "dpl-push --op o --participant x --call other"),
			at(0, "dpl-register --group g --no-pass --service b"),
			at(0, "dpl-cleanup --if-exists"),
		}, 0},
		{"group", []step{request, itself}, []step{
			at(5, "dpl-orchestrate --group g"),
			at(5, "dpl-register --group g --request --no-pass --service c -- sleep 300"),
			at(5, "dpl-heartbeat --group g --service b --readiness stopping"),
			at(5, "dpl-shutdown --group g --service b"),
			at(5, "dpl-register --group g --remove --service a"),
			at(5, "dpl-cleanup"),
		}, 0},
		{"cold group", []step{request}, []step{
			at(60, "dpl-register --group g --request --no-pass --fresh --service c -- sleep 300"),
			at(60, "dpl-register --group g --no-pass --service b"),
			at(60, "dpl-orchestrate --group g"),
		}, 0},
	}
}

// TestInterleavings stops each of the commands after its calls, and runs each other one in the
// meantime.
func TestInterleavings(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	strict.Program(t, "strace")
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("needs /proc/locks, which tells who waits for a lock")
	}

	locked := plain(t)
	unlocked := commands(t, map[string]string{"fileops/disk/flock.go": withoutLocks(t)})
	for _, mode := range modes {
		for _, p := range some(places()) {
			t.Run(mode.name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				testPlace(t, locked, mode, p)
			})
		}

		t.Run(mode.name+"/lock swept away", func(t *testing.T) {
			t.Parallel()
			testSwept(t, locked, mode)
		})

		t.Run(mode.name+"/without locks", func(t *testing.T) {
			t.Parallel()
			testControl(t, unlocked, mode)
		})
	}
}

// withoutLocks returns the source of the file system with locks that do not exclude each other.
func withoutLocks(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "fileops", "disk", "flock.go"))
	if err != nil {
		t.Fatal(err)
	}

	const exclusive, shared = "l.flock.TryLock()", "l.flock.TryRLock()"
	if !strings.Contains(string(source), exclusive) {
		t.Fatalf("fileops/disk/flock.go does not call %s: tell this test how locks are taken now",
			exclusive)
	}
	return strings.ReplaceAll(string(source), exclusive, shared)
}

func testPlace(t *testing.T, bin string, mode commitMode, at place) {
	w := newWorld(t, bin, mode, at.setup...)
	w.starts = strings.Contains(at.name, "group")
	choose := chooser(t)
	runs, waited, pairs := 0, 0, 0

	for i, a := range at.who {
		calls := w.baseline(t, a).calls
		for j, b := range at.who {
			p := newPair(t, w, a, b, calls)
			pairs++
			points := w.points(calls, i < at.core && j < at.core, choose)
			locked := held(calls)
			if i == j && len(locked) > 0 { // one that is sure to wait, whatever the chance
				points = append(points, locked[choose.IntN(len(locked))])
			}

			for _, k := range points {
				m, hit := p.meet(t, k)
				switch {
				case !hit:
					t.Errorf("%v: never stopped after %v", p, calls[k])
				case m.lost != "":
					t.Errorf("%v: stopped after %v: %s", p, calls[k], m.lost)
				case i == j && slices.Contains(locked, k) && !m.waited:
					t.Errorf("%v: stopped after %v, with the lock: nobody waited", p, calls[k])
				}

				if left := w.leftovers(); left != nil {
					t.Errorf("%v: stopped after %v: left about: %q", p, calls[k], left)
				}
				if runs++; m.waited {
					waited++
				}
			}
		}
	}

	t.Logf("%-12s %d pairs, %d points, %d times one waited for the other", at.name, pairs, runs,
		waited)
	if waited == 0 {
		t.Error("nobody ever waited for a lock")
	}
}

// points returns the calls after which to stop: for a core pair all that change something,
// otherwise one in twelve; in a soak all.
func (w *world) points(calls []call, core bool, choose *rand.Rand) []int {
	var chosen []int
	one := 4 * w.mode.every // in so many has a turn
	for i, c := range calls {
		if rig.Soak() || (core && c.changes() || choose.IntN(12) == 0) && choose.IntN(one) == 0 {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// held returns the calls after which a command has a lock and has not committed. What another
// command finds then makes it do the same as alone, so it needs the lock.
func held(calls []call) (after []int) {
	lock := slices.IndexFunc(calls, func(c call) bool { return c.name == "flock" })
	if lock < 0 {
		return nil
	}

	for i := lock; i < len(calls); i++ {
		c := calls[i]
		if commits := strings.HasPrefix(c.name, "renameat") || c.name == "linkat"; commits ||
			i > lock && c.name == "flock" {
			break
		}
		after = append(after, i)
	}

	return after
}

// testControl shows that lost edits are found: without exclusive locks there must be some, unless
// each version is linked.
func testControl(t *testing.T, bin string, mode commitMode) {
	at := places()[0]
	w := newWorld(t, bin, mode, at.setup...)
	runs, lost := 0, 0

	for _, a := range at.who[:at.core] {
		calls := w.baseline(t, a).calls
		for _, b := range at.who[:at.core] {
			p := newPair(t, w, a, b, calls)
			for i, c := range calls {
				if !c.changes() {
					continue
				}
				if m, hit := p.meet(t, i); hit && m.lost != "" {
					lost++
				}
				runs++
			}
		}
	}

	t.Logf("without locks: %d points, %d with a loss", runs, lost)
	if byLink := w.links(); byLink == (lost > 0) {
		t.Errorf("locks do not exclude, and %d outcomes are those of no order; by link: %v", lost,
			byLink)
	}
}
