//go:build linux

package testscripts

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// TestFarmPage runs the blocks of spec/farm.md in order: the queue, the line of the crontab, a
// worker of one's own, and what an operator types.
func TestFarmPage(t *testing.T) {
	t.Parallel()
	page := read(t, "spec/farm.md")
	f := &farm{t: t, bin: built(t), dir: t.TempDir()}
	t.Cleanup(func() { proc.EndAll(f.dir) })
	shell := func(heading string) string {
		return fenced(t, section(t, page, heading), "sh")
	}

	f.sh(shell("Make the queue, and fill it"))
	lines := strings.Split(fenced(t, section(t, page, "Workers from cron"), "crontab"), "\n")
	for _, line := range lines {
		if line != "" {
			f.sh(regexp.MustCompile(`^(\S+ ){5}`).ReplaceAllString(line, ""))
		}
	}

	q := f.queue("farm")
	if got := q.Counters.Done; got != 2 || len(q.Tasks) != 1 {
		t.Errorf("%d tasks are done, want 2: %s", got, q.Encode())
	}
	if sorted, err := os.ReadFile(f.dir + "/sorted"); string(sorted) != "data\n" {
		t.Errorf("sorted has %q, %v", sorted, err)
	}

	f.sh("dpl-enqueue farm --id mine --text x")
	if said := f.sh(shell("A worker of your own")); said != "working on mine\n" {
		t.Errorf("the worker says %q", said)
	}

	f.sh("set -e\n" + shell("Look, halt, repair"))
	if q := f.queue("farm"); q.State() != queue.Running || q.Permits.Limited {
		t.Errorf("the queue is %s: %s", q.State(), q.Encode())
	}
	f.sh(shell("Workers that stay"))
}
