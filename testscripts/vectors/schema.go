package vectors

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A SchemaCheck compares a schema with the decoder of the same files.
type SchemaCheck struct {
	schema *jsonschema.Schema
	Files  []string
	again  func(text string) (string, error) // decodes and encodes text again, or returns an error
}

// NewSchemaCheck returns a check of the schema name with the vectors in folder of spec/vectors.
// root is the path of the module.
func NewSchemaCheck(t *testing.T, root, name, folder string,
	again func(string) (string, error)) SchemaCheck {
	t.Helper()
	spec := filepath.Join(root, "spec")
	file := filepath.Join(spec, name+".schema.json")
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{"file": jsonschema.FileLoader{},
		"https": schemasIn(spec)})
	schema, err := compiler.Compile(file)
	if err != nil {
		t.Fatal(err)
	}

	files, err := filepath.Glob(filepath.Join(spec, "vectors", folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	return SchemaCheck{schema, files, again}
}

// schemasIn is the folder of the schemas, which name each other by the addresses where they are
// published.
type schemasIn string

// Load returns the schema that is published at address.
func (folder schemasIn) Load(address string) (any, error) {
	file, err := filepath.Abs(filepath.Join(string(folder), path.Base(address)))
	if err != nil {
		return nil, err
	}
	return jsonschema.FileLoader{}.Load("file://" + filepath.ToSlash(file))
}

// beyondSchema are vectors of refusals that no schema can express: a schema sees values, not text,
// and only one at a time.
var beyondSchema = regexp.MustCompile(`^decode-(orchestrator-)?(too-deep|duplicate-|number-with-|fraction|supervisor-(key|id)-|two-dots|id-with-two-dots|same-seq|last-(seq|epoch)-|audit-pending|nofile-order|exit-status-(fraction|range-backwards))|^registerAll-other-key|^rules-bad-wildcard-inside`)

// Valid returns why the schema refuses text, or nil.
func (c SchemaCheck) Valid(text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return c.schema.Validate(value)
}

// All checks what texts finds in each vector.
func (c SchemaCheck) All(t *testing.T, texts func(data []byte) []string) {
	refused := 0
	for _, file := range c.Files {
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
			bySchema := c.Valid(text)
			switch {
			case err == nil && bySchema != nil:
				t.Errorf("%s: the schema refuses what is valid: %v", name, bySchema)
			case err == nil:
				if err := c.Valid(written); err != nil {
					t.Errorf("%s: the schema refuses what is written: %v", name, err)
				}
				c.inAnyOrder(t, name, text)
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
