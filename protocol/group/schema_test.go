package group

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

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

	vectors.NewSchemaCheck(t, "../..", "orchestrator", "groups",
		func(text string) (string, error) {
			o, err := DecodeOrchestrator(text)
			return o.Encode(), err
		}).All(t, texts("orchestrator"))

	vectors.NewSchemaCheck(t, "../..", "supervisors", "groups",
		func(text string) (string, error) {
			r, err := DecodeRegistry(text)
			return r.Encode(), err
		}).All(t, texts("supervisors"))

	services := func(data []byte) []string {
		var v struct {
			Do struct{ Services, Supervision json.RawMessage }
		}
		if err := json.Unmarshal(data, &v); err != nil || v.Do.Services == nil {
			return nil
		}
		text := `{"supervisors":` + string(v.Do.Services)
		if v.Do.Supervision != nil {
			text += `,"supervision":` + string(v.Do.Supervision)
		}
		return []string{text + "}"}
	}
	vectors.NewSchemaCheck(t, "../..", "services", "groups", func(text string) (string, error) {
		_, err := DecodeServices(text)
		return text, err
	}).All(t, services)
}

// TestServicesSchemaHasEveryMember checks that the schema of services files names the members of an
// entry that a services file may have, and no others.
func TestServicesSchemaHasEveryMember(t *testing.T) {
	declared := schemaMembers(t, "services", "declaration")
	for name := range schemaMembers(t, "supervisors", "supervisor") {
		text := `{"supervisors": {"x": {"` + name + `": {}}}}`
		_, err := DecodeServices(text)
		known := err != nil && !strings.Contains(err.Error(), "no such member")
		if _, has := declared[name]; has != known {
			t.Errorf("%s: the schema has it: %v, the decoder: %v", name, has, known)
		}
		delete(declared, name)
	}
	if len(declared) > 0 {
		t.Errorf("members that no entry has: %v", declared)
	}
}

func schemaMembers(t *testing.T, schema, def string) map[string]json.RawMessage {
	text, err := os.ReadFile("../../spec/" + schema + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}

	var s struct {
		Defs map[string]struct{ Properties map[string]json.RawMessage } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}

	return s.Defs[def].Properties
}
