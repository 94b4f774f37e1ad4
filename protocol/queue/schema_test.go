package queue

import (
	"encoding/json"
	"testing"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

// As far as a schema can express it, the schema accepts what Decode accepts and Encode writes, and
// refuses what Decode refuses.
func TestSchema(t *testing.T) {
	check := vectors.NewSchemaCheck(t, "../..", "queue", "queues",
		func(text string) (string, error) {
			q, err := Decode(text)
			return q.Encode(), err
		})

	check.All(t, func(data []byte) []string {
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
