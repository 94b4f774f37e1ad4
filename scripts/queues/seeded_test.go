//go:build linux

package queues

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// seeded are bugs that a crowd must find.
var seeded = []struct {
	name, file, old, new string
	linked               bool
	illegal              bool // a history, too
}{
	{"the lock does not exclude", "fileops/disk/flock.go", "l.flock.TryLock()", "l.flock.TryRLock()",
		false, true},
	{"a claim without a commit", "cmd/internal/command/claim/take.go", "edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing,\n",
		"edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing|fileops.Mode(time.Now().UnixMicro()%4/3)*fileops.DryRun,\n",
		false, true},
	{"specs are written when it is named", "fileops/queues.go",
		"	err := tx.ledger.writeSpecs(tx.id, asked.Specs)\n",
		"	var err error\n	go tx.ledger.writeSpecs(tx.id, asked.Specs)\n", false, false},
	{"an epoch that nobody checks", "protocol/queue/settle.go", "q.Tasks[i].Claim.Epoch != s.Epoch",
		"q.Tasks[i].Claim.Epoch < 0", true, true},
	{"an attempt is settled twice", "protocol/queue/settle.go", "	case last.End != s.End:",
		"	case last.End == \"\":", true, true},
	{"an attempt is settled after its judge", "protocol/queue/settle.go",
		" || last.Epoch == 0 || last.Judged:", " || last.Epoch == 0:", true, true},
	{"a retry goes to the tail", "protocol/queue/settle.go",
		"	t.Claim, t.State, t.Question, t.delay = nil, Waiting, \"\", timerMember{}\n",
		"	t.Claim, t.State, t.Question, t.delay = nil, Waiting, \"\", timerMember{}\n	e.q.LastSeq++\n	t.Seq = e.q.LastSeq\n",
		true, true},
	{"a group does not hold", "protocol/queue/hold.go", "t.Group != \"\" && head != nil && head.ID != t.ID",
		"t.Group == \"-\" && head.ID != t.ID", true, true},
	{"one slot too many", "protocol/queue/hold.go", "l.claimed >= most", "l.claimed > most", true, false},
	{"a keeper that nobody minds", "protocol/queue/judge.go", "evidence != \"\" && c.keeperGone(seen)",
		"evidence != \"\"", false, false},
	{"a claim of the dead that stays", "protocol/queue/judge.go", "	case evidence != \"\" && ",
		"	case evidence != \"\" && c.Operation != \"\" && ", false, true},
	{"an ended id is added again", "protocol/queue/enqueue.go",
		"	if ended, ok := e.endOf(n.ID); ok {",
		"	if ended, ok := e.endOf(n.ID); ok && ended.Spec == \"\" {",
		false, true},
}

// The seeded bugs fit the sources, which may have changed since the last soak.
func TestSeedsFit(t *testing.T) {
	for _, bug := range seeded {
		build.Seeded(t, root, bug.file, bug.old, bug.new)
	}
	for _, bug := range seededShared {
		build.Seeded(t, root, bug.file, bug.old, bug.new)
	}
}

// TestSeededBugs runs crowds and histories of commands that have a bug.
func TestSeededBugs(t *testing.T) {
	if !rig.Soak() {
		t.Skip("needs DPL_SOAK=1")
	}
	for _, bug := range seeded {
		t.Run(bug.name, func(t *testing.T) {
			flags := build.Seeded(t, root, bug.file, bug.old, bug.new)
			bin := build.Commands(t, root, flags)
			found := ""
			for tries := 0; tries < 6 && found == ""; tries++ {
				w, err := crowd(place(t, bin, bug.linked), 8, 8*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if len(w.faults) > 0 {
					found = w.faults[0]
				}
			}
			if t.Logf("%.300s", found); found == "" {
				t.Error("no crowd finds it")
			}
			if !bug.illegal {
				return
			}

			for range 10 {
				h, err := record(place(t, bin, bug.linked), 8, 200)
				if err != nil {
					t.Fatal(err)
				}
				if h.judge() == porcupine.Illegal || len(h.w.faults) > 0 {
					return
				}
			}
			t.Error("porcupine does not find it")
		})
	}
}
