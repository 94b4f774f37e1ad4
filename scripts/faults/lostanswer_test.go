//go:build linux

package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// testLostAnswer makes the call that commits a push fail, and all later checks. So the command
// cannot know whether it took effect, and says that. (It did not: strace does not execute a call
// that it makes fail.)
func testLostAnswer(t *testing.T, bin string) {
	strict.Program(t, "strace")
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bin, mode, at(0, "dpl-push --op o --participant cli --call main"))
			push := at(1, "dpl-push --op o --participant cli --call next")
			calls := w.baseline(t, push).calls
			commits := slices.IndexFunc(calls,
				func(c call) bool { return c.name == "renameat" || c.name == "linkat" })
			if commits < 0 {
				t.Fatalf("no commit among %v", calls)
			}

			looks := 0
			for _, c := range calls[:commits] {
				if c.name == "newfstatat" {
					looks = c.k
				}
			}

			commit := fault{call: calls[commits], errno: "EIO"}
			for range tries {
				w.reset(t)
				before, err := w.facts(false)
				if err != nil {
					t.Fatal(err)
				}

				got := w.trace(t, push, "-e", commit.option(), "-e",
					fmt.Sprintf("inject=newfstatat:error=EIO:when=%d+", looks+1))
				failed := slices.IndexFunc(got.calls, func(c call) bool { return c.injected })
				if failed < 0 || !got.calls[failed].same(commit.call) ||
					failed+1 == len(got.calls) || !got.calls[failed+1].injected {
					continue // strace counts by thread
				}

				after, err := w.facts(false)
				if got.status != 71 || !strings.Contains(got.stderr,
					"it may be committed or not") || err != nil || !after.equal(before) {
					t.Errorf("%v, %v; changed: %s", got, err, after.differences(before))
				}
				if again := w.run(push); again.status != 0 {
					t.Errorf("then: %v", again)
				}

				return
			}

			t.Errorf("never hit %v", commit)
		})
	}
}
