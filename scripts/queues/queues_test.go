//go:build linux

// Package queues tests queues with many real processes at once (spec/queues.md):
//
//	TestCrowd      producers, claimers, workers and operators, of which some are killed with SIGKILL;
//	               then every task has ended once, and every revision follows from the one before
//	TestHistories  porcupine explains what concurrent commands said by a small model of a queue
//	TestSteps      bad edits, which the check of revisions must find
//	TestSeededBugs commands with a bug, which one of the two must find
//
// DPL_SEED=N repeats the plans of a run that has printed N. The order in which the system runs the
// processes differs each time. DPL_SOAK=1 runs 64 clients instead of 8, and longer.
package queues

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
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
		return m.Run()
	}())
}

func soak() bool { return os.Getenv("DPL_SOAK") != "" }

// seed returns $DPL_SEED, or a new one, and logs it.
func seed(t testing.TB) uint64 {
	t.Helper()
	n := rand.Uint64() >> 1
	if given := os.Getenv("DPL_SEED"); given != "" {
		var err error
		if n, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("DPL_SEED: %v", err)
		}
	}
	t.Logf("DPL_SEED=%d", n)
	return n
}

func TestCrowd(t *testing.T) {
	clients, period := 8, 3*time.Second
	if soak() {
		clients, period = 64, 2*time.Minute
	}

	for _, linked := range []bool{false, true} {
		t.Run(map[bool]string{false: "rename", true: "link"}[linked], func(t *testing.T) {
			w := crowd(t, bin, linked, clients, period, seed(t))
			w.report(t)
			if missing := w.missing(); len(missing) > 0 {
				t.Errorf("it never happened: %q", missing)
			}
		})
	}
}

// crowd has clients use a queue for period, and then do all tasks that are left.
func crowd(t testing.TB, bin string, linked bool, clients int, period time.Duration, seed uint64) *world {
	w := newWorld(t, bin, linked, seed, "--on-dead-dependency", "cancel", "--max-attempts", "6",
		"--slots", strconv.Itoa(clients-2))
	if err := os.WriteFile(filepath.Join(w.base, "task.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	w.use(clients, period)
	w.drain()
	w.check()
	return w
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

// missing returns what has not happened yet.
func (w *world) missing() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[string]bool)
	for _, c := range w.calls {
		seen[c.args[0]+" "+strconv.Itoa(c.status)] = true
	}
	for _, e := range w.q.Counters.Ends {
		seen[string(e.End)] = true
	}
	for what := range w.kills {
		seen["killed "+what] = true
	}

	for _, what := range strings.Split("dpl-enqueue 0,dpl-enqueue -1,dpl-enqueue 76,dpl-claim 0,"+
		"dpl-claim 76,dpl-settle 0,dpl-settle 5,dpl-settle 76,dpl-queue 0,done,failed,crashed,released,"+
		"blocked,snoozed,killed claimer,killed attempt,killed keeper,killed command,killed worker", ",") {
		if !seen[what] {
			all = append(all, what)
		}
	}
	return all
}
