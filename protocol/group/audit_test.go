package group_test

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// A patch makes each registry of the vectors the one that its verb makes of it (spec §54.3).
func TestAuditPatch(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool) // what lines tell people
	for _, file := range vectors.Files(t, "../..", "groups", 40) {
		var v vector
		vectors.Read(t, file, &v)
		before, err := group.DecodeRegistry(string(v.Given.Supervisors))
		after, thenErr := group.DecodeRegistry(string(v.Then.Supervisors))
		if err != nil || thenErr != nil {
			continue
		}

		was, is := group.Group{Registry: before}, group.Group{Registry: after}
		s := audit.State{}
		s.Replay(audit.Line{Entry: audit.Entry{Revision: before.Revision,
			Patch: audit.Diff(nil, "", "", was.AuditText())}})
		l := audit.Line{Entry: audit.Entry{Revision: after.Revision, Patch: is.AuditPatch(was)}}
		at, fits := s.Replay(l)
		if differ := s.Differ(is.AuditText()); !fits || differ != nil {
			t.Errorf("%s: %q does not fit at %q, or differs at %q", file, l.Patch, at, differ)
		}
		for _, e := range group.AuditEvents(l) {
			if e.Kind != audit.EventChanged {
				t.Errorf("%s: %v", file, e)
			}
			seen[e.Text] = true
		}
	}

	for _, want := range []string{"a registered", "a removed", "a started", "a has ended", "a is dead",
		"passes are by me"} {
		if !seen[want] {
			t.Errorf("no vector tells that %s", want)
		}
	}
}

// A touch changes the revision of the registry alone, and the last one cannot be changed.
func TestTouch(t *testing.T) {
	t.Parallel()
	g := group.Group{}
	after, err := g.Touch()
	if err != nil || after.Registry.Revision != 1 || after.AuditPatch(g) != nil {
		t.Errorf("%+v, %v", after, err)
	}
	g.Registry.Revision = wire.LastRevision
	if after, err := g.Touch(); err != wire.ErrExhausted ||
		after.Registry.Revision != wire.LastRevision {
		t.Errorf("%+v, %v", after, err)
	}
}
