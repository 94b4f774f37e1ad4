package linearize

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/rig"
	"pgregory.net/rapid"
)

// A machine makes one command after the other on one operation, and compares it with the model.
type machine struct {
	mode  mode
	shell shell
	model operation
	now   int64
	tally tally
}

const operationOfMachine = "op"

func TestMachine(t *testing.T) {
	bin := build.Commands(t, root)
	setFlag(t, "rapid.nofailfile", "true") // the seed is enough
	checks := 60
	if rig.Soak() {
		checks = 10000
	}

	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			setFlag(t, "rapid.checks", strconv.Itoa(checks/m.share))
			seen := tally{}
			runMachine(t, t.TempDir(), bin, m, seen)
			setFlag(t, "rapid.checks", "1")
			checkMachine(t, t.TempDir(), bin, m, seen, func(t *rapid.T, m *machine) { m.tour(t) })
			t.Log(seen)

			for _, what := range []string{
				"push 0", "push 4", "push 69", "push 76", "pop 0", "pop 4", "pop 66", "heartbeat 0",
				"heartbeat 3", "heartbeat 4",
				"heartbeat 5", "heartbeat 66", "heartbeat 76", "abort 0", "abort 4", "ack 0",
				"ack 4", "ack 66", "ack 76", "cleanup 0",
				"cleanup 4", "cleanup 66", "archived", "completed", "failed", "rehearsed",
			} {
				if seen[what] == 0 {
					t.Errorf("%q never happened", what)
				}
			}
		})
	}
}

// Each of these bugs is found.
func TestSeededBugs(t *testing.T) {
	setFlag(t, "rapid.nofailfile", "true")
	setFlag(t, "rapid.shrinktime", "0s")
	for _, bug := range []struct{ name, file, old, new string }{
		{"pop leaves the crashed calls above", "protocol/pop.go", "e.cleared(e.op.Stack[last])",
			"false"},
		{"refused push changes the revision", "protocol/push.go",
			"	if err := e.mayPush(p); err != nil {\n		return op, err",
			"	if err := e.mayPush(p); err != nil {\n		return e.op, nil"},
		{"ack does not refresh", "protocol/ack.go", "e.refresh(a, true)", "_ = a"},
		{"rehearsal changes", "cmd/internal/session/edit.go", "if s.DryRun() {",
			"if s.DryRun() && s.options.Program == \"\" {"},
		{"unchanged operation is written", "fileops/document.go", "c.revision(a) != c.revision(b)",
			"true"},
	} {
		t.Run(bug.name, func(t *testing.T) {
			flags := build.Seeded(t, root, bug.file, bug.old, bug.new)
			if !rig.Soak() {
				t.Skip("needs DPL_SOAK=1")
			}

			bin := build.Commands(t, root, flags)
			found := &failure{T: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				setFlag(t, "rapid.checks", "1")
				checkMachine(found, t.TempDir(), bin, modes[0], tally{},
					func(t *rapid.T, m *machine) { m.tour(t) })
				setFlag(t, "rapid.checks", "300")
				runMachine(found, t.TempDir(), bin, modes[0], tally{})
			}()

			if <-done; !found.failed {
				t.Error("is not found")
			}
		})
	}
}

// A failure is a test that ought to fail: it only notes that.
type failure struct {
	*testing.T
	failed bool
}

func (f *failure) Errorf(string, ...any) { f.failed = true }
func (f *failure) Error(...any)          { f.failed = true }
func (f *failure) Fail()                 { f.failed = true }
func (f *failure) Failed() bool          { return f.failed }
func (f *failure) Fatalf(string, ...any) { f.FailNow() }
func (f *failure) Fatal(...any)          { f.FailNow() }
func (f *failure) FailNow()              { f.failed = true; runtime.Goexit() }

// runMachine makes as many sequences of commands as -rapid.checks says, each in a ledger of its own
// below dir.
func runMachine(t rapid.TB, dir, bin string, mode mode, seen tally) {
	checkMachine(t, dir, bin, mode, seen, func(t *rapid.T, m *machine) {
		t.Repeat(map[string]func(*rapid.T){
			"push": m.push, "push again": m.push, "heartbeat": m.heartbeat,
			"heartbeat again": m.heartbeat, "supervise": m.supervise,
			"pop": m.pop, "ack": m.ack, "ack again": m.ack, "abort": m.abort, "cleanup": m.cleanup,
			"pass": m.pass,
		})
	})
}

func checkMachine(t rapid.TB, dir, bin string, mode mode, seen tally,
	check func(*rapid.T, *machine)) {
	rapid.Check(t, func(t *rapid.T) {
		own, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(own)
		m := &machine{mode: mode, shell: shell{bin, filepath.Join(own, "ledger")}, now: begin,
			tally: seen}
		m.model.linked = mode.hint
		check(t, m)
	})
}

func one(t *rapid.T, what string, of ...string) string {
	return rapid.SampledFrom(of).Draw(t,
		what)
}

// rarely is true once in n times.
func rarely(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

// call draws a call, which is open more often than not.
func (m *machine) call(t *rapid.T) string {
	calls := []string{"c1", "c2", "c3", "c4"}
	for _, f := range m.model.stack {
		calls = append(calls, f.call, f.call)
	}
	return one(t, "call", calls...)
}

func (m *machine) push(t *rapid.T) {
	supervisors := []string{"", "s1", "s2"}
	for _, s := range m.model.supervisors {
		if s.dead {
			supervisors = append(supervisors, s.id, s.id)
		}
	}

	c := command{
		verb: "push", call: one(t, "call", "c1", "c2", "c3", "c4"),
		participant: one(t, "participant", "p1", "p2", "p3"),
		supervisor:  one(t, "supervisor", supervisors...), contained: !rarely(t, 3, "fatal"),
		reuse: rarely(t, 2, "reuse"),
	}

	c.keep = c.supervisor != "" && rarely(t, 4, "keep")
	if _, err := os.Lstat(m.shell.ledger); err != nil {
		c.create = m.mode.create
	}

	m.do(t, c)
}

func (m *machine) heartbeat(t *rapid.T) {
	c := command{verb: "heartbeat", supervisor: one(t, "supervisor", "", "", "s1"),
		cleaning: rarely(t, 3, "cleaning")}
	if c.participant = one(t, "participant", "", "p1", "p2", "p3"); c.participant == "" {
		c.call = m.call(t)
	}
	m.do(t, c)
}

func (m *machine) supervise(t *rapid.T) {
	m.do(t, command{verb: "heartbeat", supervisor: one(t, "supervisor", "s1", "s2")})
}

func (m *machine) pop(t *rapid.T) {
	m.do(t, command{verb: "pop", call: m.call(t), fail: rarely(t, 6, "fail"),
		keepOpen: rarely(t, 3, "keepOpen")})
}

func (m *machine) ack(t *rapid.T) {
	c := command{verb: "ack", call: m.call(t), supervisor: one(t, "supervisor", "s1", "s2")}
	if i := m.model.index(c.call); i >= 0 && m.model.stack[i].supervisor != "" &&
		!rarely(t, 4, "wrong supervisor") {
		c.supervisor = m.model.stack[i].supervisor
	}
	m.do(t, c)
}

func (m *machine) abort(t *rapid.T) {
	if rarely(t, 3, "abort") {
		m.do(t, command{verb: "abort"})
	}
}

func (m *machine) cleanup(t *rapid.T) { m.do(t, command{verb: "cleanup"}) }

// pass lets time pass, up to each of the limits and past it.
func (m *machine) pass(t *rapid.T) {
	short := []int64{threshold / 2, threshold - 1000, threshold, threshold + 1}
	m.now += rapid.SampledFrom(slices.Concat(short, short,
		[]int64{10 * threshold, 10*threshold + 1, 3600_001})).Draw(t, "ms")
}

// do makes c, perhaps after a rehearsal, and compares what it says and does with the model.
func (m *machine) do(t *rapid.T, c command) {
	m.now += rapid.SampledFrom([]int64{0, 1, 300, 1000}).Draw(t, "passed")
	c.op, c.now = operationOfMachine, m.now
	after, want := m.model.do(c)
	before := m.files(t)
	rehearse := rarely(t, 5, "rehearse") && !c.reuse // which makes edits of its own before the one that is rehearsed
	if rehearse {
		m.compare(t, c, want, "--dry-run")
		m.unchanged(t, c, before)
		m.tally["rehearsed"]++
	}

	m.compare(t, c, want)
	m.tally[fmt.Sprint(c.verb, " ", want.status)]++
	switch {
	case !want.changed:
		m.unchanged(t, c, before)
	case after.place == archived:
		m.tally["archived"]++
	default:
		m.tally[after.state]++
	}

	m.model = after
	if want.changed {
		m.check(t, c)
	}
}

// compare makes c and compares what it says.
func (m *machine) compare(t *rapid.T, c command, want answer, more ...string) {
	all, err := m.shell.run(c, more...)
	if err != nil {
		t.Fatal(err)
	}
	if got := all[operationOfMachine]; !got.equal(want) {
		t.Fatalf("%v %v\n got %+v\nwant %+v\n in %+v", c, more, got, want, m.model)
	}
}

// check compares the file of the operation with the model.
func (m *machine) check(t *rapid.T, c command) {
	if m.mode.hint || m.model.place == archived {
		m.compare(t, command{verb: "status", op: operationOfMachine, now: m.now},
			answer{shown: &m.model})
		return
	}

	d, text, err := read(filepath.Join(m.shell.ledger, "operations", operationOfMachine+".json"))
	if err == nil {
		err = checkSchema(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := d.operation(false); !got.equal(m.model) {
		t.Fatalf("after %v\n got %+v\nwant %+v", c, got, m.model)
	}
}

// files returns the contents of the ledger, but for what says which failures were printed.
func (m *machine) files(t *rapid.T) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(m.shell.ledger, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".said" {
			return err
		}
		text, err := os.ReadFile(path)
		info, _ := d.Info()
		all[path] = fmt.Sprint(info.ModTime(), " ", string(text))
		return err
	})

	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

// unchanged compares the ledger with what it was.
func (m *machine) unchanged(t *rapid.T, c command, before map[string]string) {
	after := m.files(t)
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			t.Fatalf("%v, which is to change nothing, has changed %s from %s to %s", c, path,
				before[path], after[path])
		}
	}
	if len(after) != len(before) {
		t.Fatalf("%v, which is to change nothing, has removed some of %v", c,
			slices.Sorted(maps.Keys(before)))
	}
}
