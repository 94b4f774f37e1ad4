package question

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// vector is one file of spec/vectors/questions (spec §50).
type vector struct {
	Comment string            `json:"comment"`
	Section string            `json:"section"`
	Rules   []json.RawMessage `json:"rules"`
	Input   json.RawMessage   `json:"input"`
	Now     string            `json:"now"`
	Inside  []string          `json:"inside"`
	Verdict *struct {
		Decide Decision `json:"decide"`
		File   *int     `json:"file"`
		Number *int     `json:"number"`
	} `json:"verdict"`
	Refused string `json:"refused"`
}

func TestVectors(t *testing.T) {
	for _, file := range vectors.Files(t, "../..", "questions", 100) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v vector
			vectors.Read(t, file, &v)
			if (v.Verdict == nil) == (v.Refused == "") {
				t.Fatal("exactly one of verdict and refused is needed")
			}
			v.run(t)
		})
	}
}

func (v *vector) run(t *testing.T) {
	var files []Rules
	for _, file := range v.Rules {
		rules, err := Decode(text(t, file))
		if err != nil {
			v.checkRefused(t, "rules", err)
			return
		}
		files = append(files, rules)
	}

	q, err := DecodeRequest(text(t, v.Input))
	if err != nil {
		v.checkRefused(t, "input", err)
		return
	}
	if v.Refused != "" {
		t.Fatalf("not refused; the request is %+v", q)
	}

	now, err := wire.ParseTime(v.Now)
	if err != nil {
		t.Fatal(err)
	}
	seen := Evidence{Now: now, Inside: func(path string) bool {
		return slices.Contains(v.Inside,
			path)
	}}
	want := Verdict{Decision: v.Verdict.Decide, File: -1}
	if v.Verdict.File != nil && v.Verdict.Number != nil {
		want.File, want.Rule = *v.Verdict.File, *v.Verdict.Number-1
	}
	if got := Decide(q, files, seen); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func (v *vector) checkRefused(t *testing.T, part string, err error) {
	if v.Refused != part || !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("refused: %s: %v; want %q", part, err, v.Refused)
	}
}

// text returns the text of a file in a vector: that of an object, or what a string says.
func text(t *testing.T, value json.RawMessage) (text string) {
	if value[0] != '"' {
		return string(value)
	}
	if err := json.Unmarshal(value, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// The schema accepts the files of rules that Decode accepts, and refuses those that it refuses.
func TestSchema(t *testing.T) {
	check := vectors.NewSchemaCheck(t, "../..", "rules", "questions",
		func(text string) (string, error) {
			_, err := Decode(text)
			return text, err
		})
	check.All(t, func(data []byte) (all []string) {
		var v vector
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		for _, file := range v.Rules {
			if value := text(t, file); !strings.Contains(v.Comment, "occurs twice") { // a schema sees one
				all = append(all, value)
			}
		}
		return all
	})
}
