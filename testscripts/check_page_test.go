//go:build linux

package testscripts

import (
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// TestCheckPage runs the blocks with which spec/checks.md begins.
func TestCheckPage(t *testing.T) {
	t.Parallel()
	f := &farm{t: t, bin: built(t), dir: t.TempDir()}
	t.Cleanup(func() { proc.EndAll(f.dir) })
	all := blocks(section(t, read(t, "spec/checks.md"), "Check what a worker did"), "sh")
	if len(all) != 2 {
		t.Fatalf("%d blocks, want 2", len(all))
	}

	if said := f.sh(all[0] + "[ $? = 1 ]"); !strings.Contains(said, `"found": "it does not exist"`) {
		t.Errorf("without files it says\n%s", said)
	}
	f.sh("echo 41 >answer.txt; dpl-check rules.json --dir . && rm answer.txt")

	f.sh("set -e\n" + all[1])
	q := f.queue("work")
	if e, ok := q.EndedTask("answer"); !ok || e.End != queue.EndedDone || e.Last.Epoch != 2 {
		t.Errorf("the task is not done by its second attempt: %s", q.Encode())
	}
	if log := f.text("ledger/queues/tasks/work/answer~2.log"); !strings.Contains(log, "nothing matches") {
		t.Errorf("the worker has read\n%s", log)
	}
}
