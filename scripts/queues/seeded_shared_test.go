//go:build linux

package queues

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
)

// seededShared are bugs that the rig must find on a file system that two hosts share.
var seededShared = []struct{ name, file, old, new, commit, part string }{
	{"an epoch that nobody checks", "protocol/queue/settle.go", "q.Tasks[i].Claim.Epoch != s.Epoch",
		"q.Tasks[i].Claim.Epoch < 0", "link", "crowd"},
	{"an attempt of another host counts as dead", "protocol/queue/judge.go",
		"		case CallCrashed:\n", "		case CallCrashed, CallOpen:\n", "link", "crowd"},
	{"who waits remembers nothing", "fileops/queue_look.go", "news := queues.Observe(l, q.ID, q, seen); news",
		"_ = queues.Observe(l, q.ID, q, seen); false", "link", "handover"},
}

// TestSeededShared runs the rig of scripts/shared, as root, on the file system DPL_SHARED, such as
// nfs, gluster or local, with commands that have a bug.
func TestSeededShared(t *testing.T) {
	on := os.Getenv("DPL_SHARED")
	if on == "" {
		t.Skip("needs DPL_SHARED=nfs or gluster, and root")
	}
	for _, bug := range seededShared {
		t.Run(bug.name, func(t *testing.T) {
			bin := build.Commands(t, root, build.Seeded(t, root, bug.file, bug.old, bug.new))
			variant := "queues:default"
			if on == "gluster" && bug.commit == "rename" {
				variant = "queues:nocache"
			}
			driver := exec.Command("sh", filepath.Join(root, "scripts/shared", on+".sh"), bin, bug.commit, "45",
				variant)
			driver.Env = append(os.Environ(), "DPL_PARTS="+bug.part)
			driver.Stderr = os.Stderr
			out, err := driver.Output()
			if err != nil {
				t.Fatal(err)
			}

			_, text, _ := strings.Cut(string(out), "RESULT ")
			var result struct {
				Left   string
				Queues []Report
			}
			if err := json.Unmarshal([]byte(text), &result); err != nil || len(result.Queues) != 1 {
				t.Fatalf("%v: %s", err, out)
			}
			found := result.Queues[0]
			if len(found.Faults) == 0 {
				t.Errorf("it finds nothing: %+v", found)
				return
			}
			t.Logf("%d commands, %d revisions, %d found: %.400s", found.Commands, found.Revisions,
				len(found.Faults), found.Faults[0])
		})
	}
}
