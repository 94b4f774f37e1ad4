//go:build linux

package pipes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The judge finds each kind of problem, and no problem where there is none.
func TestJudge(t *testing.T) {
	const (
		completed = `{"state": "completed", "events": [
			{"type": "callStarted", "callId": "first"},
			{"type": "callStarted", "callId": "last"}]}`
		failedBy = `{"state": "failed", "transitions": [
			{"from": "running", "reason": "why", "cause": {"call": "CALL"}}],
			"events": [
			{"type": "callStarted", "callId": "first"},
			{"type": "callStarted", "callId": "last"}]}`
		unsaid = `{"state": "failed", "transitions": [
			{"from": "running", "reason": "why"}]}`
	)
	first := strings.Replace(failedBy, "CALL", "first", 1)
	last := strings.Replace(failedBy, "CALL", "last", 1)
	none, killed := []victim(nil), []victim{{"first", command}}
	runnerOnly, unseen := []victim{{"first", runner}}, []victim{{"middle", runner}}
	unkept := []victim{{"first", runner}, {"first", keeper}}
	const cut = "published a truncated"

	for name, c := range map[string]struct {
		fault  string
		shape  string
		hit    []victim
		out    string
		record string
		status int
		want   string // the beginning of the first problem, or ""
	}{
		"no fault":              {noFault, threeCalls, none, whole, completed, 0, ""},
		"nothing published":     {noFault, threeCalls, none, absent, completed, 0, "published nothing"},
		"failed by itself":      {noFault, threeCalls, none, absent, first, 3, "failed without"},
		"absent":                {kills, threeCalls, killed, absent, first, 3, ""},
		"truncated":             {kills, threeCalls, killed, truncated, first, 3, cut},
		"truncated, and all ok": {kills, threeCalls, runnerOnly, truncated, completed, 0, cut},
		"unkept":                {kills, threeCalls, unkept, truncated, first, 3, ""},
		"unkept, with --to":     {kills, toFile, unkept, truncated, first, 3, cut},
		"published after it":    {exits, threeCalls, none, whole, first, 3, "published after"},
		"published long after":  {kills, threeCalls, killed, whole, first, 3, "published after"},
		"status 0":              {kills, threeCalls, killed, absent, first, 0, "the script exits 0"},
		"no cause":              {kills, threeCalls, killed, absent, unsaid, 3, "the record names no"},
		"a wrong cause":         {kills, threeCalls, killed, absent, last, 3, "the record blames last"},
		"before the ledger":     {early, threeCalls, unseen, truncated, completed, 0, ""},
		"in the ledger":         {early, threeCalls, runnerOnly, truncated, completed, 0, cut},
	} {
		t.Run(name, func(t *testing.T) {
			tried := &trial{plan: plan{variant: variant{shape: c.shape}, fault: c.fault}, dir: t.TempDir(),
				hit: c.hit, out: c.out, started: true, status: c.status, struck: time.Now().Add(-time.Minute)}
			if c.fault == exits {
				tried.exits = "first"
			}
			if err := json.Unmarshal([]byte(c.record), &tried.record); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(tried.dir, "out"), nil, 0o600); err != nil {
				t.Fatal(err)
			}

			tried.judge()
			got := strings.Join(tried.problems, "; ")
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
