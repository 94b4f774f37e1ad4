package linearize

import (
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// Each of these bugs makes a history illegal.
func TestSeededRaces(t *testing.T) {
	for _, bug := range []struct {
		name string
		edit [3]string // file, old, new
	}{
		{"the lock does not exclude", [3]string{"fileops/disk/flock.go", "l.flock.TryLock()",
			"l.flock.TryRLock()"}},
		{"an edit is acknowledged and not made",
			[3]string{"fileops/edit.go", "	dirs, err := e.ledger.openDirs(beat, e.dir)",
				"	if changes[0].next.Revision%64 == 63 {\n		return 0, nil\n	}\n	dirs, err " +
					":= " +
					"e.ledger.openDirs(beat, e.dir)"}},
		{"the file is away for a moment", [3]string{"fileops/store/rename.go",
			"	if err = s.fs.Replace(r.temp, r.Path)",
			"	s.fs.Remove(r.Path)\n	if err = s.fs.Replace(r.temp, r.Path)"}},
	} {
		t.Run(bug.name, func(t *testing.T) {
			flags := build.Seeded(t, root, bug.edit[0], bug.edit[1], bug.edit[2])
			if !rig.Soak() {
				t.Skip("needs DPL_SOAK=1")
			}

			h := record(t, build.Commands(t, root, flags), modes[0], size{workers: 8, edits: 350},
				rig.Seed(t))
			illegal, unknown := h.judge()
			for _, err := range h.errs {
				t.Log(err)
			}

			if len(illegal) == 0 {
				t.Errorf("the history is not illegal: %v, %v", unknown, h.tally())
			} else {
				t.Log(illegal[0])
			}
		})
	}
}
