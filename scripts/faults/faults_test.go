//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	bin := plain(t)
	for name, test := range map[string]func(*testing.T, string){
		"injected": testInjected, "lost answer": testLostAnswer, "full disk": testFullDisk,
		"short writes": testShortWrites, "garbage": testGarbage, "missing": testMissing,
		"unread": testUnread, "descriptors": testDescriptors,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, bin)
		})
	}
}

// testInjected kills, and lets fail, at each point of each subject.
func testInjected(t *testing.T, bin string) {
	strict.Program(t, "strace")
	for _, mode := range modes {
		for _, s := range some(mode.subjects()) {
			t.Run(mode.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				newTrial(t, bin, mode, s).run()
			})
		}
	}
}

// A fault is what happens at a call.
type fault struct {
	call
	index int    // among the calls of the baseline
	errno string // "": the process is killed before it makes the call
}

func (f fault) String() string {
	if f.errno == "" {
		return "killed before " + f.call.String()
	}
	return f.errno + " of " + f.call.String()
}

func (f fault) option() string {
	if f.errno == "" {
		return fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", f.name, f.k)
	}
	return fmt.Sprintf("inject=%s:error=%s:when=%d", f.name, f.errno, f.k)
}

// stop is the option that stops the process after the call.
func (c call) stop() string { return fmt.Sprintf("inject=%s:signal=SIGSTOP:when=%d", c.name, c.k) }

// space are the errors of whatever takes room on a disk, or writes to one.
var space = []string{"ENOSPC", "EIO", "EDQUOT", "EROFS"}

// errnos returns the errors that a call may return.
func errnos(c call) []string {
	switch c.name {
	case "mkdirat", "linkat", "renameat", "renameat2", "unlinkat", "fsync", "fdatasync":
		return space
	case "openat":
		if c.write {
			return space
		}
		return []string{"EIO"}
	case "write", "close":
		return space[:3]
	case "fchmod", "ftruncate":
		return space[1:]
	case "fcntl":
		return nil
	}

	return []string{"EIO"}
}

// A trial tries one subject under faults.
type trial struct {
	t *testing.T
	*world
	subject
	calls    []call
	old, new facts
	status   int // of the subject without a fault

	// The outcome of the next commands in either case. See next.
	afterOld, afterNew outcome

	count map[string]int
}

func newTrial(t *testing.T, bin string, mode commitMode, s subject) *trial {
	tr := &trial{t: t, subject: s, world: newWorld(t, bin, mode, s.setup...),
		count: make(map[string]int)}
	tr.begin()
	tr.afterOld = tr.next()
	var got traced
	poll.Until(t, "an end of the subject that is not only late", func() bool {
		got = tr.baseline(t, s.do)
		return !slices.Contains(s.answers, got.result.status)
	})
	tr.calls, tr.status, tr.new = got.calls, got.result.status, tr.see()
	if tr.new.equal(tr.old) {
		t.Fatalf("%v changes nothing: %v", s.do, got.result)
	}

	tr.afterNew = tr.next()

	return tr
}

// begin completes what is there before.
func (tr *trial) begin() {
	tr.starts = tr.settled != nil
	tr.world.each = tr.subject.each
	if tr.prepare != nil {
		tr.prepare(tr.t, tr.world)
		tr.keep(tr.t)
	}
	tr.reset(tr.t)
	tr.old = tr.see()
}

// see returns the facts of the ledger, whose files must all be valid.
func (tr *trial) see() facts {
	tr.t.Helper()
	f, err := tr.facts(false)
	if err != nil {
		tr.count["torn"]++
		tr.t.Error(err)
	}

	if tr.also != nil {
		f["also"] = tr.also(tr.world)
	}
	return f
}

// faults returns the faults for each call: it is killed, and it fails, in a soak in every way,
// otherwise in one. Then only one in six calls without an effect on disk is included, because a
// kill there leaves the same as a kill before the next call.
func (tr *trial) faults(choose *rand.Rand) []fault {
	var all []fault
	one := 9 * tr.mode.every // in so many has a turn
	if tr.starts {
		one *= 3 // each run takes longer, and TestKills also kills there
	}

	for i, c := range tr.calls {
		if !rig.Soak() && (tr.always == "" || c.on != tr.always || !c.changes()) &&
			(choose.IntN(one) > 0 || !c.changes() && choose.IntN(6) > 0) {
			continue
		}

		all = append(all, fault{c, i, ""})
		errs := errnos(c)
		if !rig.Soak() && len(errs) > 0 {
			errs = errs[i%len(errs):][:1]
		}

		for _, errno := range errs {
			all = append(all, fault{c, i, errno})
		}
	}

	return all
}

// run tries all faults. It begins anew, once, if one was never hit because the baseline was that of
// rare runs: two of these in a row may agree.
func (tr *trial) run() {
	for _, f := range tr.faults(chooser(tr.t)) {
		tr.count["runs"]++
		got, hit := tr.inject(f)
		if hit {
			tr.count["hits"]++
			tr.judge(f, got)
			continue
		}

		usual := tr.baseline(tr.t, tr.do).calls
		if tr.count["rare"] > 0 || slices.EqualFunc(usual, tr.calls, call.same) {
			tr.t.Errorf("%v: never hit; the last time:\n%s", f, got.text)
			continue
		}
		tr.t.Logf("%v: never hit: rare calls %v, usually %v", f, tr.calls, usual)
		tr.count["rare"]++
		tr.calls = usual
		tr.run()
		return
	}

	tr.count["points"] = len(tr.calls)
	if len(tr.calls) == 0 {
		tr.t.Error("no calls on the ledger")
	}

	var table strings.Builder
	for _, column := range []string{"points", "runs", "hits", "missed", "rare", "old", "new",
		"part", "torn", "lies", "blocked", "left"} {
		fmt.Fprintf(&table, " %s %d", column, tr.count[column])
	}

	tr.t.Logf("%-24s%s", tr.name, table.String())
}

// inject runs the subject until f has happened. Sometimes the runtime of Go moves the work to
// another thread, and strace counts by thread.
func (tr *trial) inject(f fault) (got traced, hit bool) {
	for range tries {
		tr.reset(tr.t)
		options := []string{"-e", f.option()}
		if f.errno != "" && !tr.starts {
			options = append(options, "--seccomp-bpf") // faster; signals get lost with it, and it does not go with -b
		}

		got = tr.trace(tr.t, tr.do, options...)
		if tr.hit(f, got) {
			return got, true
		}

		tr.count["missed"]++
		if n := f.index + 1; len(got.calls) >= n &&
			slices.EqualFunc(got.calls[:n], tr.calls[:n], call.same) {
			f.k = got.calls[f.index].k // this time
		}
	}

	return got, false
}

// hit reports whether the calls up to that of f were those of the baseline, and f happened there.
func (tr *trial) hit(f fault, got traced) bool {
	n := f.index + 1
	if len(got.calls) < n || !slices.EqualFunc(got.calls[:n], tr.calls[:n], call.same) {
		return false
	}
	if f.errno == "" {
		return len(got.calls) == n && got.result.status == killed
	}
	return got.calls[f.index].injected
}
