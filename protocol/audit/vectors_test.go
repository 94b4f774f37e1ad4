package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// vector is one file of spec/vectors/audit (spec §57.1), except those of edits.
type vector struct {
	Shape  Shape
	Before json.RawMessage
	After  json.RawMessage
	Patch  []struct {
		Path          string
		Before, After json.RawMessage
		Was           string
	}
	Line, Hash string
	Log        string
	File       json.RawMessage
	Finds      []struct {
		Seq int64
		How How
	}
	Known   []string
	LeftOut []string
	Authors []jsontext.Value
	Then    json.RawMessage
}

func TestVectors(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../spec/vectors/audit/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			switch {
			case v.Patch != nil:
				v.patch(t)
			case v.Line != "":
				if got := wire.Hash(v.Line); got != v.Hash {
					t.Errorf("the hash is %s", got)
				}
			case v.Finds != nil:
				v.finds(t)
			case v.Authors != nil:
				v.authors(t)
			case v.Then == nil:
				t.Error("it has none of the forms")
			}
		})
	}
}

// patch checks that the patch makes before after, and that Diff returns it, which knows no
// elements.
func (v vector) patch(t *testing.T) {
	var patch []Change
	for _, c := range v.Patch {
		patch = append(patch, Change{c.Path, compact(string(c.Before)), compact(string(c.After)), c.Was})
	}
	s := State{Shape: v.Shape}
	s.Replay(Line{Entry: Entry{Patch: []Change{{After: compact(string(v.Before))}}}})
	path, fits := s.Replay(Line{Entry: Entry{Patch: patch}})
	delete(s.root.inner, "revision")
	if differ := s.Differ(compact(string(v.After))); !fits || differ != nil {
		t.Errorf("it does not fit at %q, or gives %s, which differs at %q", path, s.Text(), differ)
	}

	if v.Shape != nil {
		return
	}
	got := Diff(nil, "", sorted(v.Before), sorted(v.After))
	byPath := func(a, b Change) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(got, byPath)
	slices.SortFunc(patch, byPath)
	if !reflect.DeepEqual(got, patch) {
		t.Errorf("got %q, want %q", got, patch)
	}
}

// authors checks who made the edits of the lines of the log.
func (v vector) authors(t *testing.T) {
	var authors Authors
	for i, text := range strings.Split(strings.TrimSuffix(v.Log, "\n"), "\n") {
		l, err := Parse(text)
		if err != nil || !authors.Resolve(&l) {
			t.Fatalf("line %d: %v", i+1, err)
		}
		got := wire.Line(wire.Record(func(c *wire.Codec) { l.By.record(c, author{}) }))
		if want := compact(string(v.Authors[i])); canonical(got) != canonical(want) {
			t.Errorf("line %d: got %s, want %s", i+1, got, want)
		}
	}
}

func compact(text string) string {
	v := jsontext.Value(text)
	if text != "" && v.Compact() != nil {
		panic("not JSON: " + text)
	}
	return string(v)
}

func sorted(text json.RawMessage) string { return canonical(string(text)) }

// finds checks what a verifier finds.
func (v vector) finds(t *testing.T) {
	verifier := &Verifier{State: State{Shape: v.Shape, LeftOut: v.LeftOut}, Known: v.Known}
	for line := range strings.Lines(v.Log) {
		if complete, ok := strings.CutSuffix(line, "\n"); ok {
			verifier.Line(Parse(complete))
		} else {
			verifier.Rest(line)
		}
	}
	if string(v.File) == "null" {
		verifier.Lost("there is no file")
	} else {
		var chain Chain
		rest := jsontext.Value("{")
		r := wire.NewReader(string(v.File), 0)
		r.Object(func(name string) {
			if name == "audit" {
				chain.Record(r.Codec())
				return
			}
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(wire.AppendQuote(rest, name), ':')
			rest = append(rest, r.Value()...)
		})
		verifier.End(chain, string(append(rest, '}')))
	}

	var got, want []string
	for _, f := range verifier.Findings {
		got = append(got, Finding{f.Seq, f.How, ""}.String())
	}
	for _, f := range v.Finds {
		want = append(want, Finding{f.Seq, f.How, ""}.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", verifier.Findings, want)
	}
}

// The schema accepts the lines that are written, and refuses some that are none.
func TestSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../spec/audit.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("audit.json", value); err != nil {
		t.Fatal(err)
	}
	schema := compiler.MustCompile("audit.json")
	valid := func(line string) error {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}

	lines, end, _ := history()
	noted := end.Append(Entry{Verb: Noted, By: By{Process: observe.Process{PID: 1, BootID: "b"}},
		Note: &Note{Kind: "prompt", Size: 1, Hash: end.Head, Task: "a"}})
	for _, line := range append(lines, noted.Pending...) {
		if err := valid(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	was := `"was":"` + end.Head + `",`
	removed := strings.Replace(lines[4], `"before":2,"after":3`, was+`"x":1`, 1)
	if _, err := Parse(removed); err != nil || valid(removed) != nil {
		t.Errorf("%s: %v, %v", removed, err, valid(removed))
	}
	for _, line := range []string{`{}`, strings.Replace(lines[1], `"sha256:`, `"`, 1),
		strings.Replace(lines[0], `"seq":1`, `"seq":0`, 1), strings.Replace(lines[0], `"path"`, `"p"`, 1),
		strings.Replace(lines[0], `"after":{`, `"before":{`, 1),
		strings.Replace(lines[0], `"after"`, `"before":1,"after"`, 1),
		strings.Replace(lines[0], `"after":{`, `"after":1,"x":{`, 1),
		strings.Replace(lines[4], `"before":2,"after":3`, `"x":1`, 1),
		strings.Replace(lines[4], `"before"`, was+`"before"`, 1),
		strings.Replace(lines[4], `"before":2`, was+`"x":1`, 1)} {
		if _, err := Parse(line); err == nil || valid(line) == nil {
			t.Errorf("%s: refused by a reader: %v, by the schema: %v", line, err, valid(line))
		}
	}
}
