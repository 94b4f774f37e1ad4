package queue

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
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
		checkEvents(t, path, before, after)
		checkFound(t, path, before, after)
	}
}

// lineOf returns the line of the edit that makes after of before.
func lineOf(before, after Queue) audit.Line {
	return audit.Line{Seq: 2, Entry: audit.Entry{Revision: after.Revision,
		Patch: after.AuditPatch(before)}}
}

// checkEvents checks that the events of the edit name each claim that it gave, and each that it took.
func checkEvents(t *testing.T, path string, before, after Queue) {
	t.Helper()
	want, got := make(map[string]string), make(map[string]string)
	for _, task := range before.Tasks {
		then := after.Task(task.ID)
		switch {
		case then == nil || then.Seq != task.Seq:
		case task.Claim == nil && then.Claim != nil:
			want[task.ID] = audit.EventClaimed
		case task.Claim != nil && then.Claim == nil && then.Last.Epoch != task.Last.Epoch:
			want[task.ID] = audit.EventSettled
		case task.Claim != nil && then.Claim == nil:
			want[task.ID] = audit.EventUnclaimed
		}
	}

	events := AuditEvents(lineOf(before, after))
	events = append(events, AuditEvents(audit.Line{Seq: 1, Entry: audit.Entry{
		Patch: audit.Diff(nil, "", "", after.AuditText())}})...)
	for _, e := range events {
		if e.Kind == "" || e.Text == "" {
			t.Errorf("%s: an event without a kind or a text: %+v", path, e)
		}
		switch e.Kind {
		case audit.EventClaimed, audit.EventSettled, audit.EventUnclaimed:
			got[e.Task] = e.Kind
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: claims: events %v, want %v", path, got, want)
	}
}

// checkFound checks that the numbers of after are not given again if the file is set back to before,
// and that no claim is left there that after has settled.
func checkFound(t *testing.T, path string, before, after Queue) {
	t.Helper()
	whole := audit.Line{Entry: audit.Entry{Revision: after.Revision,
		Patch: audit.Diff(nil, "", "", after.AuditText())}}
	for _, line := range []audit.Line{lineOf(before, after), whole} {
		var f Found
		f.Line(before, line)
		restored, err := before.Restore(f, observe.Observation{})
		switch {
		case !before.SetBack(f):
			t.Errorf("%s: it is not found to be set back", path)
		case err != nil && !before.Removed && !errors.Is(err, wire.ErrExhausted):
			t.Errorf("%s: restore: %v", path, err)
		case err == nil && (restored.LastSeq < after.LastSeq || restored.LastEpoch < after.LastEpoch ||
			restored.Revision <= after.Revision):
			t.Errorf("%s: numbers %d, %d, %d are given again", path, restored.LastSeq,
				restored.LastEpoch, restored.Revision)
		}
		for _, task := range restored.Tasks {
			if c := task.Claim; err == nil && c != nil && f.Settled[Claimable{task.ID, c.Epoch}] != "" {
				t.Errorf("%s: %s still has the claim %d, which was settled", path, task.ID, c.Epoch)
			}
		}
	}
}

func checkPatch(t *testing.T, path string, before, after Queue) {
	t.Helper()
	patch := after.AuditPatch(before)
	s := audit.State{Shape: AuditShape(), LeftOut: AuditLeftOut()}
	s.Replay(audit.Line{Entry: audit.Entry{Revision: before.Revision,
		Patch: audit.Diff(nil, "", "", before.AuditText())}})
	at, fits := s.Replay(audit.Line{Entry: audit.Entry{Revision: after.Revision, Patch: patch}})
	if differ := s.Differ(after.AuditText()); !fits || differ != nil {
		t.Errorf("%s: %q does not fit at %q, or differs at %q", path, patch, at, differ)
	}
}
