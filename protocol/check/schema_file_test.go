package check

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "../../spec/check.schema.json"

// beyond matches why the decoder refuses rules that the schema allows.
var beyond = regexp.MustCompile(`error parsing regexp|a \[ without|JSON Schema|duplicate`)

// TestSchemaFile checks that spec/check.schema.json allows what Decode does, and refuses what it
// refuses, except what no schema can say.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	allows := func(text string) bool {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		return err == nil && schema.Validate(value) == nil
	}

	for _, text := range []string{`{}`, `{"exit":[0,255]}`, `{"files":["a","b/*.c","..a","...","a/.b","é"]}`,
		`{"changed":["x"]}`, `{"contains":{"a":"x","b*":["y","z"]},"absent":{"c":["d"]}}`,
		`{"json":{"a":{"id":"integer"},"b":true,"c":{"type":"object"}}}`,
		`{"command":["a","","é"],"timeoutMs":1}`, `{"timeoutMs":9223372036854,"command":["x"]}`,
		`{"prose":"x"}`, `{"prose":["x","y"],"uncertain":"block"}`,
		`{"$schema":"https://example.org/check.schema.json","exit":[0]}`, `{"uncertain":"fail","exit":[1]}`} {
		if _, err := Decode(text); err != nil || !allows(text) {
			t.Errorf("%s: decoded with %v; the schema allows it: %t", text, err, allows(text))
		}
	}
	for text, why := range refused {
		if got, want := allows(text), beyond.MatchString(why); got != want && text != "{\"prose\":\"\xff\"}" {
			t.Errorf("%s: the schema allows it: %t, want %t", text, got, want)
		}
	}
}

// TestSchemaFileHasEveryMember checks that the schema file has the members that Decode knows.
func TestSchemaFileHasEveryMember(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("decode.go")
	if err != nil {
		t.Fatal(err)
	}

	var known []string
	for _, found := range regexp.MustCompile(`(?m)^\t(?:own|c\.\w+)\("([$\w]+)"`).FindAllStringSubmatch(string(source), -1) {
		known = append(known, found[1])
	}
	for _, name := range known {
		if s.Properties[name] == nil {
			t.Errorf("the schema has no %s", name)
		}
	}
	for name := range s.Properties {
		if !slices.Contains(known, name) {
			t.Errorf("no rules have %s", name)
		}
	}
}
