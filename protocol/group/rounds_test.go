package group_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

// TestContinues has a service that waits for one that runs.
func TestContinues(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const waits = `{"revision": 1, "supervisors": {
		"a": {"state": "running", "startInfo": {"command": "/bin/a"}},
		"b": {"state": "waitingForDependencies", "dependencies": ["a"], "startInfo": {"command": "/bin/b"}}}}`
	const blocked = `"state": "waitingForDependencies", "blockedBy": "c: dead"`
	const rests = `"state": "waitingForDependencies", "maintenance": {"by": "ann",
		"at": "2025-12-31T23:00:00Z", "until": "2026-01-01T01:00:00Z"}`

	for _, c := range []struct {
		name, text string
		started    []string
		want       bool
	}{
		{"this command has started it", waits, []string{"a"}, true},
		{"another one has started it", waits, nil, false},
		{"both were started", waits, []string{"a", "b"}, false},
		{"blocked", strings.Replace(waits, `"state": "waitingForDependencies"`, blocked, 1),
			[]string{"a"}, false},
		{"in maintenance", strings.Replace(waits, `"state": "waitingForDependencies"`, rests, 1),
			[]string{"a"}, false},
	} {
		r, err := group.DecodeRegistry(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := plan.Continues((group.Group{ID: "g", Registry: r}), c.started, now); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
