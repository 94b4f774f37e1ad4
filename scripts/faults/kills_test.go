//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A family is a command that is several processes, or waits for something.
type family struct {
	name    string
	setup   []step
	prepare func(*testing.T, *world) // after setup
	each    []step                   // repeated before each run
	do      step

	services bool // the processes it starts stay; otherwise none does
	final    func(*world) string
}

// families returns all commands that start processes, or wait, each with the work that makes it do
// all it can.
func families() []family {
	leaves := []string{"--", "sh", "-c", "sleep 300 & setsid sleep 300 & exit 0"}
	pushed := at(0, "dpl-push --op o --participant cli --call main --staleness 10s --interval 20ms")
	hooked := at(1, "dpl-orchestrate --group g --on-alert true")
	const limited = "--kill-after 100ms --timeout 60s --soft-timeout 50s --soft-signal TERM --ok 9 " +
		"--silence 60s --nudge-after 50s --on-nudge true --output $res/out"
	return append(treeFamilies(), []family{
		{name: "dpl-run", do: words(0, "dpl-run --op o --call c --staleness 10s "+
			"--interval 1s --kill-after 100ms", leaves...), final: archived},
		{name: "dpl-run --to", do: words(0, "dpl-run --op o --call c --staleness 10s --interval 1s "+
			"--kill-after 100ms --retry 1 --backoff 0 --resource $res/first --keep-resources "+
			"--resource-root $res --to $res/out --publish out=$res/also", "--", "sh", "-c",
			"echo new; echo new >$DPL_TMP/out; mkdir $res/first || exit 0; exit 1"),
			final: publishes},
		{name: "dpl-run, again", setup: []step{pushOwned}, prepare: resources,
			do: at(later, "dpl-run --op o --call main -- true"), final: runsAgain},
		{name: "dpl-serve", setup: []step{itself},
			do: at(5, "dpl-serve --group g --service a --heartbeat --notify --watchdog 50s "+limited+
				" -- true"),
			final: nothingRuns},
		{name: "dpl-run --notify", do: at(0, "dpl-run --op o --notify --watchdog 100ms "+
			"--kill-after 100ms -- sleep 300"), final: archived},
		{name: "dpl-run --silence", do: words(0, "dpl-run --op o --silence 60ms --nudge-after 20ms "+
			"--output $res/out --kill-after 100ms --on-failure true --on-nudge", "cat >&2", "--",
			"sleep", "300"),
			final: archived},
		{name: "dpl-work --once", setup: []step{enqueueOne},
			do: at(5, "dpl-work q --once --kill-after 100ms"), final: drains},
		{name: "dpl-work --once, checked", prepare: checkedTask,
			do: at(5, "dpl-work q --once --kill-after 100ms"), final: drainsChecked},
		{name: "dpl-claim, which looks", prepare: checkedTask,
			do: at(1, "dpl-claim --queue q --participant w --deadline 5s"), final: drainsChecked},
		{name: "dpl-settle, which checks", prepare: checkedClaim, do: settleOne, final: settlesChecked},
		{name: "dpl-work --on-alert", setup: []step{enqueueOne,
			at(1, "dpl-queue --queue q --halt x")}, do: tell, final: told},
		{name: "dpl-work --follow", setup: []step{enqueueOne, enqueueTwo,
			at(4, "dpl-queue --queue q --goal x --goal-done")},
			do:    at(5, "dpl-work --queue q --follow --jobs 2 --log-max 2M --participant w "+limited),
			final: drains},
		{name: "dpl-work", setup: []step{enqueueOne, enqueueTwo},
			do: at(5, "dpl-work q --kill-after 100ms"), final: drains},
		{name: "handler", setup: []step{pushMain, supervise,
			at(8, "dpl-heartbeat --op o --participant cli")},
			do: at(15, "dpl-cleanup --op o --supervisor s -- sleep 0.05"), final: archived},
		{name: "cleanup --on-failure", setup: []step{pushMain,
			at(1, "dpl-pop --op o --call main --fail")},
			do: tellFailure, final: failureTold},
		{name: "wait", setup: []step{pushed}, do: at(15,
			"dpl-wait --op o --for failed --timeout 20s"), final: archived},
		{name: "doctor --fix", setup: []step{pushMain, itself}, prepare: plant,
			do: at(300, "dpl-doctor --fix"), final: fixed},
		{name: "orchestrate", setup: []step{request}, do: pass, services: true,
			final: runsAndStops},
		{name: "orchestrate --every", setup: []step{request},
			do:       at(1, "dpl-run --timeout 300ms -- dpl-orchestrate --group g --every 50ms"),
			services: true, final: runsAndStops},
		{name: "register", do: at(0, "dpl-register --group g --request --service a --backoff 0 -- "+
			"sleep 300"), services: true, final: runsAndStops},
		{name: "orchestrate --on-alert", setup: []step{request}, each: []step{hooked, strikeA},
			do:       words(2, "dpl-orchestrate --group g --on-alert", "sleep 0.05; cat"),
			services: true, final: runsAndStops},
		{name: "ends", setup: []step{ending("")}, do: pass.with("--on-exit", "pass"),
			final: completes},
		{name: "ends, and leaves something", setup: []step{ending("sleep 0.1 &")},
			do: pass.with("--on-exit", "pass"), final: completes},
		{name: "shutdown --wait", setup: []step{request}, each: []step{pass},
			do:       at(5, "dpl-shutdown --group g --all --wait"),
			services: true, final: stops},
		// A start that a kill has prevented is due in a second, which never comes: --now stands still.
		{name: "restart --wait", setup: []step{request}, each: []step{pass},
			do:       at(5, "dpl-restart --group g --service a --only --wait --timeout 3s"),
			services: true, final: runsAndStops},
	}...)
}

// words returns the step for a command line whose last words are not split.
func words(seconds int, line string, last ...string) step {
	s := at(seconds, line)
	s.argv = append(s.argv, last...)
	return s
}

// strikeA is a step that kills supervisor a.
var strikeA = step{strikes: true}

// later is a time when no member of a family has sent a heartbeat for long.
const later = 600

// archived cleans up until every operation is over and in the archive.
func archived(w *world) (why string) {
	for seconds := later; seconds < later+20; seconds++ {
		if got := w.run(at(seconds, "dpl-cleanup --if-exists")); got.status != 0 {
			return got.stderr
		}

		all, err := w.facts(false)
		if err != nil {
			return err.Error()
		}

		why = ""
		for name, text := range all {
			if strings.HasPrefix(name, "operations/") {
				why = fmt.Sprintf("%s is not over: %s", name, text)
			}
		}

		if why == "" {
			return ""
		}
	}

	return why
}

// publishes looks that the results of o are there and whole if it was completed, and that each is
// whole or missing otherwise. The next run then makes both.
func publishes(w *world) string {
	why := archived(w)
	if why != "" {
		return why
	}

	all, err := w.facts(false)
	if err != nil {
		return err.Error()
	}
	completed := strings.Contains(all["archive/o.json"], `"state":"completed"`)
	for _, name := range []string{"out", "also"} {
		text, err := os.ReadFile(filepath.Join(w.base, "res", name))
		if err == nil && string(text) != "new\n" {
			return fmt.Sprintf("torn: %s is %q", name, text)
		}
		if err != nil && completed {
			return "completed, and " + err.Error()
		}
	}

	again := words(later+30, "dpl-run --op again --to $res/out --publish out=$res/also", "--",
		"sh", "-c", ": >$DPL_TMP/out")
	if got := w.run(again); got.status != 0 {
		return fmt.Sprint(got)
	}
	return ""
}

// runsAgain makes the next run, and looks that nothing of the first is left, and no run is open.
func runsAgain(w *world) string {
	if got := w.run(at(later*2, "dpl-run --op o --call main -- true")); got.status != 0 {
		return fmt.Sprint(got)
	}
	if wrong := archived(w); wrong != "" {
		return wrong
	}
	if left := owned(w); left != "0" { // by a pass, if it was killed while it deleted them
		return left + " resources are left"
	}
	return ""
}

// tellFailure is a step that tells of failures.
var tellFailure = at(2, "dpl-cleanup --on-failure true")

// failureTold tells again, and looks that the failure was recorded, and nothing else.
func failureTold(w *world) string {
	if got := w.run(tellFailure); got.status != 0 {
		return fmt.Sprint(got)
	}
	entries, err := os.ReadDir(w.file("failures"))
	if err != nil {
		return err.Error()
	}
	if len(entries) != 2 || !strings.HasSuffix(entries[0].Name(), "~2") ||
		entries[1].Name() != entries[0].Name()+".said" {
		return fmt.Sprintf("not told, or not all: %v", entries)
	}
	return archived(w)
}

// fixed has the doctor go on, and looks that nothing of what was planted is left.
func fixed(w *world) string {
	if got := w.run(at(300, "dpl-doctor --fix")); got.status != 0 {
		return fmt.Sprint(got)
	}
	if left := planted(w); left != "drwxr-xr-x []" {
		return "it is fixed, it says, and there is " + left
	}
	return archived(w)
}

// nothingRuns makes a pass, and looks that no supervisor is said to run.
func nothingRuns(w *world) string {
	w.run(at(later, "dpl-orchestrate --group g"))
	g, err := w.registry("g")
	if err != nil {
		return err.Error()
	}

	for i := range g.Services {
		if s := &g.Services[i]; s.ID == "a" && s.State == group.StateRunning {
			return "a is said to run"
		}
	}

	return ""
}

// runsAndStops makes passes until supervisor a runs once, and then stops it.
func runsAndStops(w *world) (why string) {
	if _, err := os.Stat(w.file("g.supervisors.json")); err != nil {
		return "" // it was never registered
	}

	seconds := 6
	poll.Within(poll.Patience, func() bool {
		seconds = min(seconds+1, 9)
		w.run(at(seconds, "dpl-orchestrate --group g --staleness 1h"))
		why = oneRuns(w)
		return why == ""
	})

	if why != "" {
		return why
	}
	return stops(w)
}

// stops stops all supervisors.
func stops(w *world) string {
	if got := w.run(at(10, "dpl-shutdown --group g --all --wait --timeout 30s")); got.status != 0 {
		return got.stderr
	}
	if left := w.working(); len(left) > 0 {
		return fmt.Sprintf("all is stopped, it says, and processes %v run", left)
	}
	return ""
}

// TestKills kills each process of each family before each of its calls that others may notice.
// Whatever happens, no process and no file is left, and the next commands go on.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	strict.Program(t, "strace") // which may trace where we may
	bin := build.Commands(t, root)

	for _, mode := range modes {
		if mode.every > 1 && !rig.Soak() {
			continue // the processes are the same
		}

		for _, f := range some(families()) {
			t.Run(mode.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				f.test(t, bin, mode)
			})
		}
	}
}

// test runs the family without a kill, and then kills.
func (f family) test(t *testing.T, bin string, mode commitMode) {
	w := newWorld(t, bin, mode, f.setup...)
	w.starts, w.each = f.services, f.each
	if f.prepare != nil {
		f.prepare(t, w)
		w.keep(t)
	}

	choose := chooser(t)
	all, got := f.run(t, w, 0, 0)
	want := got.status
	if want == 64 { // it would do nothing, and kills of that prove nothing
		t.Fatalf("%v: %v", f.do, got)
	}
	var counts []int
	for _, p := range all.Processes {
		counts = append(counts, p.Calls)
	}

	runs, hits := 0, 0
	for victim, calls := range counts {
		for _, when := range sample(choose, calls) {
			n, hit := f.kill(t, w, victim, when)
			if runs += n; hit {
				hits++
			}
			if t.Failed() {
				return // each of these takes long
			}
		}
	}

	t.Logf("%-24s exits %d, calls of its processes %v, %d runs, %d kills", f.name, want, counts,
		runs, hits)
	if hits == 0 {
		t.Error("nothing was ever killed")
	}
}

// kill kills a process before a call, or an earlier one if it makes fewer this time. It returns the
// number of runs that took, and whether it succeeded.
func (f family) kill(t *testing.T, w *world, victim, when int) (runs int, hit bool) {
	t.Helper()
	for ; when > 0 && !hit && !t.Failed(); when /= 2 {
		k, _ := f.run(t, w, victim, when)
		hit = k.Hit != ""
		runs++
	}
	return runs, hit
}

// sample returns before which of so many calls to kill: with time before all, else before some two.
func sample(choose *rand.Rand, calls int) (when []int) {
	always := 1 + choose.IntN(max(calls, 1))
	for n := 1; n <= calls; n++ {
		if rig.Soak() || n == always || choose.IntN(calls) < 1 {
			when = append(when, n)
		}
	}
	return when
}

// run runs the family once, with a kill, and judges what is left.
func (f family) run(t *testing.T, w *world, victim, when int) (killing, result) {
	t.Helper()
	w.reset(t)
	k, got := w.runTraced(t, f.do, victim, when)
	what := fmt.Sprintf("%v: process %d killed before call %d, %s", f.do, victim, when, k.Hit)
	if _, err := w.facts(false); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if !f.services && !poll.Within(poll.Patience,
		func() bool { return len(proc.Below(w.base)) == 0 }) {
		t.Errorf("%s: processes are left: %v", what, w.working())
	}
	if !w.exists("ledger.json") {
		w.run(f.do) // like a user who does not know how it ended
	}
	if why := f.final(w); why != "" {
		t.Errorf("%s: %v: %s", what, got, why)
	}
	if !poll.Within(poll.Patience, func() bool { return len(k.left()) == 0 }) {
		t.Errorf("%s: processes %v are left", what, k.left())
	}

	w.run(at(later, "dpl-cleanup --if-exists"))
	if left := w.leftovers(); left != nil {
		t.Errorf("%s: left about: %q", what, left)
	}

	return k, got
}
