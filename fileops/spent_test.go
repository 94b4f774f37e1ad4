package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// pushingTmp pushes a call with a temporary directory.
func pushingTmp(call string, resources ...string) Verb[protocol.Operation] {
	return func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		if op.ID == "" {
			op = protocol.Create("op", "", 0, 0)
		}
		return op.Push(protocol.Push{Call: call, Participant: "p", Tmp: true, Resources: resources},
			observe.Observation{Now: linkEpoch})
	}
}

// interruptedPop returns a ledger on which a pop of the call "ended" was committed, but could not
// move its temporary directory.
func interruptedPop(t *testing.T, c Config) *Ledger {
	t.Helper()
	l, h := hookedLedger(t, c, Options{})
	editOp(t, l, pushingTmp("root"))
	editOp(t, l, pushingTmp("ended"))
	writeFile(t, filepath.Join(l.TmpDir("op", "", "ended"), "file"), "x")
	h.Before = nth(t, 1, "rename", "/ended", broken)
	editOp(t, l, popping("ended"))
	h.Before = nil
	if gone(t, l.TmpDir("op", "", "ended")) || !errors.Is(errors.Join(l.Leftovers()...), errDisk) {
		t.Fatal("nothing was interrupted")
	}

	return l
}

// The next edit or pass removes what a pop has left that was killed after its commit. A heartbeat
// does not look.
func TestSpentTmp(t *testing.T) {
	t.Parallel()
	beat := func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		return op.Heartbeat(protocol.Actor{Participant: "p"}, observe.Report{},
			observe.Observation{Now: linkEpoch.Add(time.Second)})
	}

	for _, c := range []Config{{}, linkedConfig} {
		for name, tt := range map[string]struct {
			do   func(l *Ledger) error
			stay bool
		}{
			"push": {do: func(l *Ledger) error {
				_,
					err := l.EditOperation("op", Existing, pushing("next"))
				return err
			}},
			"pop": {do: func(l *Ledger) error {
				_,
					err := l.EditOperation("op", Existing, popping("root"))
				return err
			}},
			"sweep": {do: (*Ledger).Sweep, stay: c.Commit == CommitLink},
			"heartbeat": {do: func(l *Ledger) error {
				_,
					err := l.EditOperation("op", Existing, beat)
				return err
			}, stay: true},
		} {
			l := interruptedPop(t, c)
			must(t, tt.do(l))
			if got := !gone(t, l.TmpDir("op", "", "ended")); got != tt.stay {
				t.Errorf("%s, %s: is it there? %v", c.Commit, name, got)
			}
			wantNoLeftovers(t, l)
		}
	}
}

// If a lock may be lost, a pass leaves what a push without its lock may have created, until that is
// impossible.
func TestSpentTmpOfAnOldPush(t *testing.T) {
	t.Parallel()
	l := interruptedPop(t, linkedConfig)
	must(t, os.Mkdir(l.TmpDir("op", "", "empty"), 0o700))
	long := time.Now().Add(-store.LongestPause - time.Minute)
	must(t, os.Chtimes(l.TmpDir("op", "", "ended"), long, long))
	must(t, l.Sweep())
	if !gone(t, l.TmpDir("op", "", "ended")) || gone(t, l.TmpDir("op", "", "empty")) {
		t.Error("the old one stays, or the new one goes")
	}

	must(t, os.Chtimes(l.TmpDir("op", "", "empty"), long, long))
	must(t, l.Sweep())
	if !gone(t, l.TmpDir("op", "", "empty")) {
		t.Error("the empty one stays")
	}
}

// A push killed before its commit leaves an empty directory. Files put there stay, and so does a
// resource of a call.
func TestSweepTmpOfNoCall(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	editOp(t, l, pushingTmp("live", l.TmpDir("op", "", "resource"),
		filepath.Join(l.TmpDir("op", "", "around"), "file")))
	for _, name := range []string{"resource", "around", "killed"} {
		must(t, os.Mkdir(l.TmpDir("op", "", name), 0o700))
	}

	writeFile(t, filepath.Join(l.TmpDir("op", "", "mine"), "file"), "x")
	writeFile(t, l.TmpDir("op", "", "file"), "x")
	must(t, l.Sweep())
	if got, want := filesIn(t, l.OperationTmp("op")), []string{"around", "file", "live", "mine",
		"resource"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	editOp(t, l, popping("live"))
	must(t, l.Sweep())
	if got, want := filesIn(t, l.OperationTmp("op")), []string{"file", "mine"}; !slices.Equal(got,
		want) {
		t.Errorf("after the pop: got %q, want %q", got, want)
	}
}

// Directories of another run are spent. Those that users have made are not, unless they are empty.
func TestSpentTmpOfOtherRun(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	run := protocol.Create("op", "new", 0, 0)
	push := func(call string) Verb[protocol.Operation] {
		return func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			if op.ID == "" {
				op = run
			}
			return op.Push(protocol.Push{Call: call, Participant: "p", Tmp: true,
				Resources: []string{l.TmpDir("op", "old", "resource")}},
				observe.Observation{Now: linkEpoch})
		}
	}

	editOp(t, l, push("live"))
	for _, name := range []string{"old~live", "old~ended", "old~resource", "shared", "not~an~id"} {
		writeFile(t, filepath.Join(l.OperationTmp("op"), name, "file"), "x")
	}

	editOp(t, l, push("next"))
	must(t, l.Sweep())
	if got, want := filesIn(t, l.OperationTmp("op")), []string{"new~live", "new~next", "not~an~id",
		"old~resource", "shared"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A directory that fills while it is swept stays.
func TestSweepTmpThatFills(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	editOp(t, l, pushing("live"))
	must(t, os.MkdirAll(l.TmpDir("op", "", "mine"), 0o700))
	h.Before = nth(t, 1, "remove", "/mine", func() error {
		writeFile(t, filepath.Join(l.TmpDir("op", "", "mine"), "file"), "x")
		return nil
	})

	must(t, l.Sweep())
	if gone(t, filepath.Join(l.TmpDir("op", "", "mine"), "file")) {
		t.Error("it is gone")
	}
}

// An invalid operation is not swept, and a call that was pushed again keeps its directory.
func TestSweepTmpMeanwhile(t *testing.T) {
	t.Parallel()
	l := interruptedPop(t, Config{})
	h := l.fs.FS.(*hooked)
	h.Before = nth(t, 1, "lock", "/op.json.lock", func() error {
		other, err := Open(l.Dir(), Options{})
		must(t, err)
		editOp(t, other, pushingTmp("ended"))
		return nil
	})

	must(t, l.Sweep())
	if gone(t, l.TmpDir("op", "", "ended")) {
		t.Error("a living call has lost its directory")
	}

	writeFile(t, l.OperationPath("op"), "{")
	must(t, os.Mkdir(l.TmpDir("op", "", "killed"), 0o700))
	h.Before = nil
	must(t, l.Sweep())
	if gone(t, l.TmpDir("op", "", "killed")) {
		t.Error("swept although nobody knows the calls")
	}
}

// An operation that has become unreadable once the lock is held is left alone.
func TestSweepTmpOfWhatTears(t *testing.T) {
	t.Parallel()
	l := interruptedPop(t, Config{})
	h := l.fs.FS.(*hooked)
	h.Before = nth(t, 1, "lock", "/op.json.lock",
		func() error { writeFile(t, l.OperationPath("op"), "{"); return nil })
	must(t, l.Sweep())
	if gone(t, l.TmpDir("op", "", "ended")) {
		t.Error("swept although nobody knows the calls")
	}
}

// A pass removes what killed edits of its group have left, and nothing of another group.
func TestSweepGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	pass(t, l, "a")
	left := []string{"g.supervisors.json.tmp~0123456789abcdef",
		"g.orchestrator.json.tmp~0123456789abcdef", "g.supervisors.json.seen~h.tmp~0123456789abcdef"}
	kept := []string{"other.supervisors.json.tmp~0123456789abcdef",
		"ledger.json.tmp~0123456789abcdef"}
	for _, name := range slices.Concat(left, kept) {
		writeFile(t, filepath.Join(l.Dir(), name), "x")
	}

	lock, err := l.lockDocument(l.groupDocument("g"), Existing, &trust.Wait{})
	must(t, err)
	must(t, l.SweepGroup("g"))
	if gone(t, filepath.Join(l.Dir(), left[0])) {
		t.Error("swept while somebody has the lock")
	}

	must(t, lock.Unlock())
	must(t, l.SweepGroup("g"))
	for _, name := range slices.Concat(left, kept) {
		if got := gone(t, filepath.Join(l.Dir(), name)); got != slices.Contains(left, name) {
			t.Errorf("%s: gone: %v", name, got)
		}
	}
}
