package vectors

import (
	"encoding/json"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Sightings is what is remembered of a file (spec §7, §18): the text of its file.
type Sightings struct{ text string }

// UnmarshalJSON keeps the text.
func (s *Sightings) UnmarshalJSON(text []byte) error {
	s.text = string(text)
	return nil
}

func (s *Sightings) decode(t *testing.T) observe.Sightings {
	t.Helper()
	decoded, err := observe.DecodeSightings(s.text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// Sight gives seen what is remembered of a file with these times, as a ledger does before an edit.
func Sight(seen *observe.Observation, times observe.Times) {
	if seen.Sightings != nil && seen.Remembers() {
		now := seen.Sightings.Sight(*seen, times)
		seen.Sightings = &now
	}
}

// Check compares s, unless it is nil, with what a ledger stores after an edit of a file with these
// times, observed as seen, and with the result of decoding that again.
func (s *Sightings) Check(t *testing.T, seen observe.Observation, times observe.Times) {
	if s == nil {
		return
	}
	if seen.Sightings == nil {
		t.Fatal("remembered without sightings")
	}

	Sight(&seen, times)
	got, want := *seen.Sightings, s.decode(t)
	if !got.Equal(want) {
		t.Errorf("remembered:\n%swant:\n%s", got.Encode(), want.Encode())
	}
	if again, err := observe.DecodeSightings(got.Encode()); err != nil || !again.Equal(got) {
		t.Errorf("decoded again (%v):\n%s", err, again.Encode())
	}
}

// Observed is what wait and watch come to (spec §16).
type Observed struct {
	Outcome observe.Outcome   `json:"outcome"`
	Lines   []json.RawMessage `json:"lines"`
}

// Observes reports whether verb is one that only observes.
func Observes(verb string) bool { return verb == "wait" || verb == "watch" }

// Check compares the outcome of verb with the expected one.
func (o Observed) Check(t *testing.T, verb string, outcome observe.Outcome, lines []observe.Line) {
	if verb == "wait" {
		if outcome != o.Outcome {
			t.Errorf("%s, want %s", outcome, o.Outcome)
		}
		return
	}

	if len(lines) != len(o.Lines) {
		t.Fatalf("%d lines %v, want %d", len(lines), lines, len(o.Lines))
	}

	for i, line := range lines {
		if !sameJSON(t, line.Text, string(o.Lines[i])) {
			t.Errorf("line %d:\n%s\nwant:\n%s", i, line.Text, o.Lines[i])
		}
	}
}
