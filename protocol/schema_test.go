package protocol_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// As far as a schema can express it, each schema accepts what Decode accepts and Encode writes, and
// refuses what Decode refuses.
func TestSchema(t *testing.T) {
	check := newSchemaCheck(t, "operation", "../spec/vectors/*.json",
		func(text string) (string, error) {
			op, err := protocol.Decode(text)
			return op.Encode(), err
		})

	check.all(t, func(data []byte) []string {
		var v struct {
			Given, Then json.RawMessage
			GivenText   string
		}
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		return []string{string(v.Given), string(v.Then), v.GivenText}
	})
}

func TestGroupSchemas(t *testing.T) {
	texts := func(member string) func(data []byte) []string {
		return func(data []byte) []string {
			var v struct {
				Given, Then map[string]json.RawMessage
				GivenText   map[string]string
			}
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			return []string{string(v.Given[member]), string(v.Then[member]), v.GivenText[member]}
		}
	}

	newSchemaCheck(t, "orchestrator", "../spec/vectors/groups/*.json",
		func(text string) (string, error) {
			o, err := protocol.DecodeOrchestrator(text)
			return o.Encode(), err
		}).all(t, texts("orchestrator"))

	newSchemaCheck(t, "supervisors", "../spec/vectors/groups/*.json",
		func(text string) (string, error) {
			r, err := protocol.DecodeRegistry(text)
			return r.Encode(), err
		}).all(t, texts("supervisors"))
}

// TestPeerSchema checks that files of the Dart ledger become valid operations.
func TestPeerSchema(t *testing.T) {
	check := newSchemaCheck(t, "operation", "../spec/vectors/peer/*.json", nil)
	for _, file := range check.files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		var v struct{ Then json.RawMessage }
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if v.Then == nil {
			continue
		}
		if err := check.valid(string(v.Then)); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}

// schemaCheck compares a schema with the decoder of the same files.
type schemaCheck struct {
	schema *jsonschema.Schema
	files  []string
	again  func(text string) (string, error) // decodes and encodes text again, or returns an error
}

func newSchemaCheck(t *testing.T, name, vectors string,
	again func(string) (string, error)) schemaCheck {
	schema, err := jsonschema.NewCompiler().Compile("../spec/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}

	files, err := filepath.Glob(vectors)
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	return schemaCheck{schema, files, again}
}

// beyondSchema are vectors of refusals that no schema can express: a schema sees values, not text,
// and only one at a time.
var beyondSchema = regexp.MustCompile(`^decode-(orchestrator-)?(too-deep|duplicate-|number-with-|fraction|supervisor-(key|id)-|two-dots|id-with-two-dots)`)

func (c schemaCheck) valid(text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return c.schema.Validate(value)
}

// all checks what texts finds in each vector.
func (c schemaCheck) all(t *testing.T, texts func(data []byte) []string) {
	refused := 0
	for _, file := range c.files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		name := filepath.Base(file)
		for _, text := range texts(data) {
			if !json.Valid([]byte(text)) || text == "null" {
				continue // a schema applies only to JSON
			}

			written, err := c.again(text)
			bySchema := c.valid(text)
			switch {
			case err == nil && bySchema != nil:
				t.Errorf("%s: the schema refuses what is valid: %v", name, bySchema)
			case err == nil:
				if err := c.valid(written); err != nil {
					t.Errorf("%s: the schema refuses what is written: %v", name, err)
				}
			case bySchema == nil && !beyondSchema.MatchString(name):
				t.Errorf("%s: the schema accepts what is refused: %v", name, err)
			default:
				refused++
			}
		}
	}

	if refused == 0 {
		t.Error("nothing was refused")
	}
}
