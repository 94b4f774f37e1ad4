package protocol

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// A patch makes each operation of the vectors the one that its verb makes of it, and only then (spec
// §54.1).
func TestAuditPatch(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool) // what lines tell people
	for _, file := range vectors.Files(t, "..", "", 60) {
		var v vector
		vectors.Read(t, file, &v)
		before, err := Decode(string(v.Given))
		after, thenErr := Decode(string(v.Then))
		if err != nil || thenErr != nil {
			continue
		}

		s := audit.State{Shape: AuditShape()}
		s.Replay(audit.Line{Entry: audit.Entry{Revision: before.Revision,
			Patch: audit.Diff(nil, "", "", before.AuditText())}})
		if differ := s.Differ(after.AuditText()); differ == nil && before.Revision != after.Revision {
			t.Errorf("%s: it seems that nothing has changed", file)
		}

		l := audit.Line{Entry: audit.Entry{Revision: after.Revision, Patch: after.AuditPatch(before)}}
		at, fits := s.Replay(l)
		if differ := s.Differ(after.AuditText()); !fits || differ != nil {
			t.Errorf("%s: %q does not fit at %q, or differs at %q", file, l.Patch, at, differ)
		}
		for _, e := range AuditEvents(l) {
			if e.Kind != audit.EventChanged {
				t.Errorf("%s: %v", file, e)
			}
			seen[e.Text] = true
		}
	}

	for _, want := range []string{"cc pushed", "main gone", "job is crashed",
		"the operation is completed", "supervisor bridge is dead"} {
		if !seen[want] {
			t.Errorf("no vector tells that %s", want)
		}
	}
}

// A touch changes the revision alone, and the last one cannot be changed.
func TestTouch(t *testing.T) {
	t.Parallel()
	op := Create("o", "", 1, 1)
	after, err := op.Touch()
	if err != nil || after.Revision != op.Revision+1 || after.AuditPatch(op) != nil {
		t.Errorf("%+v, %v", after, err)
	}
	op.Revision = wire.LastRevision
	if after, err := op.Touch(); err != wire.ErrExhausted || after.Revision != op.Revision {
		t.Errorf("%+v, %v", after, err)
	}
}
