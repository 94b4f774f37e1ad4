package dart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

// TestPeerSchema checks that files of the Dart ledger become valid operations.
func TestPeerSchema(t *testing.T) {
	check := vectors.NewSchemaCheck(t, "../..", "operation", "peer", nil)
	for _, file := range check.Files {
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
		if err := check.Valid(string(v.Then)); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}
