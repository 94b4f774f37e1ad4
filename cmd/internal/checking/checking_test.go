package checking

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
)

const (
	passed    = `{"verdict":"passed","looked":1,"failed":[],"uncertain":[]}`
	unchecked = `{"verdict":"unchecked","looked":0,"failed":[],"uncertain":[]}`
	failed    = `{"verdict":"failed","looked":1,"failed":[{"rule":"files","file":"a","found":"b"}],"uncertain":[]}`
	uncertain = `{"verdict":"uncertain","looked":0,"failed":[],"uncertain":[{"rule":"prose","want":"a","found":"b"}]}`
)

// An attempt is done only if both the status and the report say so.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		report string
		end    queue.End
		reason string
	}{
		{0, passed, queue.Done, ""},
		{1, failed, queue.Rejected, "files a: b"},
		{75, uncertain, queue.Uncertain, "prose a: b"},
		{75, unchecked, queue.Uncertain, "unchecked: its check looks at nothing"},
		{0, unchecked, queue.Uncertain, "unchecked: its check looks at nothing"},
		{0, failed, queue.Uncertain, "files a: b"},
		{0, ``, queue.Uncertain, "it could not be checked: dpl-check exited 0"},
		{1, ``, queue.Uncertain, "it could not be checked: dpl-check exited 1"},
		{65, ``, queue.Uncertain, "it could not be checked: dpl-check exited 65"},
		{1, `{"failed":[]}`, queue.Uncertain, "it could not be checked: dpl-check exited 1"},
		{75, passed, queue.Uncertain, "it could not be checked: dpl-check exited 75"},
	} {
		if got := Outcome(tt.status, tt.report); got.End != tt.end || got.Reason != tt.reason {
			t.Errorf("%d, %s: got %v", tt.status, tt.report, got)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for want, got := range map[string][]string{
		"--rules=- --json --dir=/d":                    Judge("/d", -1, ""),
		"--rules=- --json --dir=/d --exit=0 --since=f": Judge("/d", 0, "f"),
		"--rules=- --json --dir=--since --exit=3":      Judge("--since", 3, ""),
	} {
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
}

// Rules under which nothing must change need no dpl-check, which is not here.
func TestStart(t *testing.T) {
	t.Parallel()
	if s, err := Start(`{"files":["a"]}`, "."); s != "" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
	if _, err := Start(`{"exits":[]}`, "."); err == nil {
		t.Error("bad rules are no error")
	}
}
