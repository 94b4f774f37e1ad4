package group

import (
	"encoding/json"
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
}
