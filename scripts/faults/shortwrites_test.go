//go:build linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// testShortWrites limits the size of files, so that writes end in the middle: the kernel writes as
// much as fits, and refuses the rest.
func testShortWrites(t *testing.T, bin string) {
	strict.Program(t, "strace")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	choose := chooser(t)
	for _, mode := range modes {
		for _, s := range some(mode.subjects()) {
			offset := choose.IntN(256)
			t.Run(mode.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				tr := newTrial(t, bin, mode, s)
				step := 512
				if rig.Soak() {
					offset, step = 0, 1
				}

				short := 0
				for limit := offset; limit < 4096 && tr.limited(fileSize(limit), self, "size", limit); limit += step {
					short++
				}

				if !slices.Contains([]string{"cleanup archives", "cleanup of all archives",
					"heartbeat archives"}, s.name) && short == 0 {
					t.Error("no write was short")
				}
			})
		}
	}
}

// A fileSize is how many bytes a file may have.
type fileSize int

func (s fileSize) String() string {
	return "no more than " + strconv.Itoa(int(s)) + " bytes in a file"
}

// limited runs the subject under a limit of a kind, and reports whether it was too low.
func (tr *trial) limited(what fmt.Stringer, self, kind string, most int) bool {
	tr.reset(tr.t)
	before := tr.raw()
	ctx, cancel := deadline()
	defer cancel()

	cmd := tr.command(ctx, tr.do, self)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s %d", limitVariable, kind, most))
	got := runCommand(ctx, cmd)
	now := tr.see()
	tr.checkStatus(what, got, now)
	defer tr.tidied(what)
	if !now.equal(tr.old) {
		return false
	}
	if after := tr.raw(); after != before {
		tr.t.Errorf("%v: got\n%s\nwant the bytes that were there before:\n%s", what, after,
			before)
	}
	if got := tr.world.run(tr.do); got.status != tr.status || !tr.see().equal(tr.new) {
		tr.t.Errorf("%v, and then without a limit: %v\n%s", what, got,
			tr.see().differences(tr.new))
	}

	return true
}

// tidied lets the janitor remove what the subject could not, and reports what is left.
func (tr *trial) tidied(what fmt.Stringer) {
	clean := tr.do
	clean.argv = []string{"dpl-cleanup", "--if-exists"}
	tr.world.run(clean)
	if left := tr.leftovers(); left != nil {
		tr.t.Errorf("%v: left about: %q", what, left)
	}
}

// raw returns the bytes of all files of operations and groups. A copy of a registry, and a lock, may
// be made for an edit that then fails.
func (tr *trial) raw() string {
	var all strings.Builder
	for _, pattern := range []string{"*.json*", "operations/*.json*", "archive/*"} {
		files, _ := filepath.Glob(tr.file(pattern))
		for _, file := range files {
			if strings.Contains(file, "~supervisors~") || strings.HasSuffix(file, ".lock") ||
				filepath.Base(file) == "ledger.json" {
				continue
			}
			if data, err := os.ReadFile(file); err == nil {
				all.WriteString(file + "\n" + string(data))
			}
		}
	}

	return all.String()
}
