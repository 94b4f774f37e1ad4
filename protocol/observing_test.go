package protocol

import (
	"encoding/json"
	"reflect"
	"testing"
)

// vectorObserving is the arguments of wait and watch (spec §16).
type vectorObserving struct {
	For   Goal  `json:"for"`
	Since int64 `json:"since"`
}

// observed is what wait and watch come to.
type observed struct {
	Outcome Outcome           `json:"outcome"`
	Lines   []json.RawMessage `json:"lines"`
}

func (vectorObserving) observes(verb string) bool { return verb == "wait" || verb == "watch" }

// check compares the outcome of verb with the expected one.
func (o observed) check(t *testing.T, verb string, outcome Outcome, lines []Line) {
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
		if got, want := jsonValue(t, line.Text), jsonValue(t,
			string(o.Lines[i])); !reflect.DeepEqual(got, want) {
			t.Errorf("line %d:\n%s\nwant:\n%s", i, line.Text, o.Lines[i])
		}
	}
}
