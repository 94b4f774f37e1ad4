package queue

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/protocol/audit"
)

// A patch makes each queue of the vectors the one that its verb makes of it.
func TestAuditPatch(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../spec/vectors/queues/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Given, Then json.RawMessage }
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		before, err := Decode(string(v.Given))
		after, thenErr := Decode(string(v.Then))
		if err != nil || thenErr != nil {
			continue
		}
		checkPatch(t, path, before, after)
	}
}

func checkPatch(t *testing.T, path string, before, after Queue) {
	t.Helper()
	patch := after.AuditPatch(before)
	s := audit.State{Shape: AuditShape()}
	s.Replay(audit.Line{Entry: audit.Entry{Revision: before.Revision,
		Patch: audit.Diff(nil, "", "", before.AuditText())}})
	at, fits := s.Replay(audit.Line{Entry: audit.Entry{Revision: after.Revision, Patch: patch}})
	if differ := s.Differ(after.AuditText()); !fits || differ != nil {
		t.Errorf("%s: %q does not fit at %q, or differs at %q", path, patch, at, differ)
	}
}
