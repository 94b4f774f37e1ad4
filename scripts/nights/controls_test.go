//go:build linux

package nights

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// TestControls has jobs that break each promise once: the rig must find it.
func TestControls(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	postgresql(t)
	w := place{bin: build.Commands(t, "../.."), seed: rig.Seed(t)}.newWorld(t, 0, "stages.sh")
	plain, err := os.ReadFile(filepath.Join("testdata", "plain.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("plain.sh"), plain, 0o600); err != nil {
		t.Fatal(err)
	}

	whole := w.line
	for _, c := range []struct {
		name string
		line string
		kind kind
		want string // in a fault
	}{
		{"without DPL", "sh plain.sh", kind{name: "dump killed", do: killPlainDump},
			"a broken file was published"},
		{"written in place", "sh plain.sh && : >backup/latest.sql.gz", undisturbed,
			"a broken file was published"},
		{"published nothing", "dpl-run --op nightly -- true", undisturbed,
			"has published nothing"},
		{"ran once only", "dpl-run --op nightly --no-rerun -- true", undisturbed,
			"it has not run"},
		{"failed on its own", "dpl-run --op nightly -- false", undisturbed,
			"it has failed without a cause"},
		{"status hidden", whole + " || true", kinds[byName("dump killed")], "and exits 0"},
		{"silent", whole + " 2>/dev/null", kinds[byName("dump killed")], "no mail reports it"},
		{"reported twice", whole + " 2>&1 | sed p", kinds[byName("dump killed")],
			"a mail too many"},
		{"wrong cause", whole + " 2>&1 | sed s/dump/gzip/", kinds[byName("dump killed")],
			"the cause is wrong"},
		{"mail about nothing", whole + "; echo all is well", undisturbed,
			"it is completed, and mails"},
	} {
		found := ""
		for tries := 0; tries < 5 && !strings.Contains(found, c.want); tries++ {
			w.line, w.faults, w.pending, w.unread = c.line, nil, nil, ""
			w.night(c.kind) // on a busy machine a kill may come too late
			found = strings.Join(w.faults, "\n")
		}
		if !strings.Contains(found, c.want) {
			t.Errorf("%s: want %q, got %q", c.name, c.want, found)
		}
	}
}

// killPlainDump kills a dump that is no call.
func killPlainDump(w *world, n *night, ended <-chan struct{}) {
	poll.Within(poll.Patience, func() bool {
		p := w.one(func(p process) bool { return p.is("pg_dump") })
		if p == nil {
			return w.hasEnded(ended)
		}
		time.Sleep(w.upTo(100 * time.Millisecond))
		if w.kill(*p) {
			n.disturbed = time.Now()
		}
		return true
	})
}
