// Package vectors is what the tests of protocol and its packages share: the parts of the vectors in
// spec/vectors (spec §7, §12, §16, §18, §40), and what holds for all codecs.
package vectors

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Files returns the vectors in a folder of spec/vectors: at least so many. root is the path of the
// module. With $DPL_VECTORS they are random ones, see make soak.
func Files(tb testing.TB, root, folder string, least int) []string {
	tb.Helper()
	dir := os.Getenv("DPL_VECTORS")
	if dir == "" {
		dir = filepath.Join(root, "spec", "vectors")
	}

	files, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
	if err != nil || len(files) < least {
		tb.Fatalf("found %d vectors (%v), want at least %d", len(files), err, least)
	}
	return files
}

// Read reads a vector to v.
func Read(tb testing.TB, file string, v any) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if err := jsonv2.Unmarshal(data, v, jsonv2.RejectUnknownMembers(true)); err != nil {
		tb.Fatal(err)
	}
}

// Saying is the arguments that a heartbeat, push or registration says of the actor.
type Saying struct {
	Readiness observe.Readiness `json:"readiness"`
	Note      *string           `json:"note"`
}

// Report returns what s says.
func (s Saying) Report(cleaning bool) observe.Report {
	return observe.Report{Cleaning: cleaning, Readiness: s.Readiness, Note: s.Note}
}

// Seen is the world of a vector.
type Seen struct {
	Now          string        `json:"now"`
	HostID       string        `json:"hostId"`
	BootID       string        `json:"bootId"`
	PIDNamespace string        `json:"pidNamespace"`
	BootedAt     string        `json:"bootedAt"`
	MonotonicMs  int64         `json:"monotonicMs"`
	Exited       []int         `json:"exited"`
	Unseen       []int         `json:"unseen"`
	Watch        observe.Watch `json:"watch"`

	Sightings *Sightings `json:"sightings"`
}

// Observation returns what an observer in that world sees.
func (s Seen) Observation(t *testing.T) observe.Observation {
	at := func(s string) time.Time {
		if s == "" {
			return time.Time{}
		}
		when, err := wire.ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}

	seen := observe.Observation{
		Now: at(s.Now),
		Host: observe.Host{ID: s.HostID, BootID: s.BootID, PIDNamespace: s.PIDNamespace,
			BootedAt: at(s.BootedAt)},
		MonotonicMs: s.MonotonicMs,
		Watch:       s.Watch,
		Look: func(p observe.Process) observe.Presence {
			if slices.Contains(s.Unseen, p.PID) {
				return observe.Unseen
			}
			return Presence(slices.Contains(s.Exited, p.PID))
		},
	}

	if s.Sightings != nil {
		kept := s.Sightings.decode(t)
		seen.Sightings = &kept
	}

	return seen
}

// Presence is what an observer sees that may look.
func Presence(exited bool) observe.Presence {
	if exited {
		return observe.Gone
	}
	return observe.Present
}

// Process is an observe.Process in a vector.
type Process struct {
	PID          int    `json:"pid"`
	HostID       string `json:"hostId"`
	BootID       string `json:"bootId"`
	PIDNamespace string `json:"pidNamespace"`
	StartTicks   int64  `json:"startTicks"`
	PidfdInode   int64  `json:"pidfdInode"`
}

// Status returns the number that vectors have for v: the exit status of dpl-heartbeat.
func Status(v observe.Verdict) int {
	return map[observe.Verdict]int{observe.VerdictContinue: 0, observe.VerdictCleanUp: 3,
		observe.VerdictOver: 4, observe.VerdictCrashed: 5, observe.VerdictAsked: 6}[v]
}
