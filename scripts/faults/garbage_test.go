//go:build linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/rig"
)

// nobody is the user who works on the ledgers of this test if root runs it, because root may read
// everything.
const nobody = 65534

// A victim is a file that gets garbage, and the commands that meet it.
type victim struct {
	name  string // of the file, in the ledger
	torn  int    // the status where its text is not valid
	other []int  // where it is neither a file nor a link
	setup []step
	who   []step
}

var victims = []victim{
	{"operations/o.json", 65, []int{77}, []step{pushMain, supervise}, []step{
		at(5, "dpl-push --op o --participant cli --call main"),
		at(5, "dpl-push --op o --participant x --call new --reuse"),
		at(5, "dpl-heartbeat --op o --participant cli"),
		at(5, "dpl-heartbeat --supervisor s"),
		at(5, "dpl-pop --op o --call main"),
		at(5, "dpl-abort --op o"),
		at(5, "dpl-cleanup --op o"),
		at(5, "dpl-cleanup"),
		at(5, "dpl-cleanup --op o --supervisor s --ack job"),
		at(5, "dpl-status --op o"),
		at(5, "dpl-wait --op o --for completed --timeout 1s"),
	}},
	{"g.supervisors.json", 65, []int{77}, []step{request, itself}, groupCommands},
	{"g.orchestrator.json", 65, []int{77}, []step{request, itself}, groupCommands},
	{"ledger.json", 78, []int{74, 78}, []step{pushMain, request}, []step{
		at(5, "dpl-push --op o --participant x --call new"),
		at(5, "dpl-pop --op o --call main"),
		at(5, "dpl-cleanup"),
		at(5, "dpl-register --group g --no-pass --service b"),
		at(5, "dpl-orchestrate --group g"),
	}},
}

var groupCommands = []step{
	at(5, "dpl-register --group g --request --no-pass --service c -- sleep 300"),
	at(5, "dpl-register --group g --no-pass --fresh --service c"),
	at(5, "dpl-heartbeat --group g --service b"),
	at(5, "dpl-shutdown --group g --service b"),
	at(5, "dpl-restart --group g --all"),
	at(5, "dpl-orchestrate --group g"),
	at(5, "dpl-status --group g"),
}

// testGarbage replaces a file with garbage. Every command refuses it at once, and leaves it
// unchanged.
func testGarbage(t *testing.T, bin string) {
	for _, mode := range modes {
		for _, v := range some(victims) {
			t.Run(mode.name+"/"+filepath.Base(v.name), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, bin, mode, v.setup...)
				if os.Geteuid() == 0 {
					w.becomeNobody(t)
				}

				runs := 0
				for _, g := range w.garbage(t, v) {
					for _, s := range v.who {
						w.meetGarbage(t, v, g, s)
						runs++
					}
				}

				t.Logf("%-20s %d commands met garbage", v.name, runs)
			})
		}
	}
}

// becomeNobody runs all commands as the user nobody, who owns the ledger and may reach it.
func (w *world) becomeNobody(t *testing.T) {
	w.owner = nobody
	for dir := filepath.Dir(w.base); dir != filepath.Clean(os.TempDir()) &&
		dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// A garbage is what is in the place of a file.
type garbage struct {
	what    string
	want    []int
	put     func(path string) error
	foreign bool // another user owns it
}

// garbage returns all kinds of garbage for v: the file truncated at each 16th byte, or without
// DPL_SOAK at fewer places, and other things than a file.
func (w *world) garbage(t *testing.T, v victim) []garbage {
	text, err := os.ReadFile(w.file(v.name))
	if err != nil {
		t.Fatal(err)
	}

	var all []garbage
	step := 16
	if !rig.Soak() {
		step = 80 * w.mode.every
	}
	for n := 0; n < len(text)-1; n += step {
		all = append(all, garbage{fmt.Sprintf("the first %d bytes of it", n), []int{v.torn},
			func(path string) error { return os.Truncate(path, int64(n)) }, false})
	}

	instead := func(do func(string) error) func(string) error {
		return func(path string) error { return errors.Join(os.Remove(path), do(path)) }
	}

	refused := []int{77}
	all = append(all,
		garbage{"a directory", v.other,
			instead(func(path string) error { return os.Mkdir(path, 0o700) }), false},
		garbage{"a named pipe", v.other,
			instead(func(path string) error { return syscall.Mkfifo(path, 0o600) }), false},
		garbage{"a symbolic link", refused,
			instead(func(path string) error { return os.Symlink("elsewhere", path) }), false},
		garbage{"a file that others may write", refused,
			func(path string) error { return os.Chmod(path, 0o666) }, false},
		garbage{"a file that nobody may read", refused,
			func(path string) error { return os.Chmod(path, 0) }, false})

	if w.owner != 0 {
		all = append(all, garbage{"somebody else's file", refused,
			func(path string) error { return os.Chown(path, 1, 1) }, true})
	}

	return all
}

func (w *world) meetGarbage(t *testing.T, v victim, g garbage, s step) {
	t.Helper()
	w.reset(t)
	path := w.file(v.name)
	if err := g.put(path); err != nil {
		t.Fatal(err)
	}

	if w.owner != 0 && !g.foreign {
		if err := os.Lchown(path, w.owner, w.owner); err != nil {
			t.Fatal(err)
		}
	}

	before := lookAt(path)
	got := w.run(s)
	if !slices.Contains(g.want, got.status) {
		t.Errorf("%s is %s: %v: got %v, want %v", v.name, g.what, s, got, g.want)
	}
	if after := lookAt(path); after != before {
		t.Errorf("%s is %s: %v has made of it %s, want %s", v.name, g.what, s, after, before)
	}
	if left := w.leftovers(); left != nil {
		t.Errorf("%s is %s: %v has left about %q", v.name, g.what, s, left)
	}
}

// lookAt describes what is at path.
func lookAt(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}

	what := fmt.Sprint(info.Mode(), info.Sys().(*syscall.Stat_t).Ino)
	if info.Mode().IsRegular() {
		text, err := os.ReadFile(path)
		what += fmt.Sprintf(" %s %v", text, err)
	}
	return what
}
