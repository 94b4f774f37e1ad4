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

// The schema accepts what Decode accepts and Encode writes, and refuses what Decode refuses, as far as a schema can say it.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../spec/operation.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../spec/vectors/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	valid := func(text string) error {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	// A schema sees no text, only values, and no two of them at once.
	beyondSchema := regexp.MustCompile(`^decode-(duplicate-|number-with-|supervisor-(key|id)-|two-dots|id-with-two-dots)`)
	refused := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Given, Then json.RawMessage
			GivenText   string
		}
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(v.Given), string(v.Then), v.GivenText} {
			if !json.Valid([]byte(text)) || text == "null" {
				continue // what is no JSON is none of a schema's business
			}
			op, err := protocol.Decode(text)
			if bySchema := valid(text); err == nil && bySchema != nil {
				t.Errorf("%s: the schema refuses what Decode accepts: %v", filepath.Base(file), bySchema)
			} else if err != nil && bySchema == nil && !beyondSchema.MatchString(filepath.Base(file)) {
				t.Errorf("%s: the schema accepts what Decode refuses: %v", filepath.Base(file), err)
			} else if err != nil {
				refused++
			}
			if err == nil {
				if err := valid(op.Encode()); err != nil {
					t.Errorf("%s: the schema refuses what Encode writes: %v", filepath.Base(file), err)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}
