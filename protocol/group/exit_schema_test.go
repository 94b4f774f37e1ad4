package group

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/dpl-project/dpl/testscripts/vectors"
)

// The schema of exit records agrees with the decoder.
func TestExitSchema(t *testing.T) {
	t.Parallel()
	check := vectors.NewSchemaCheck(t, "../..", "exit", "groups", nil)
	records := 0
	for _, file := range check.Files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		var v struct {
			Do struct {
				Exits map[string]struct{ Record json.RawMessage }
			}
		}
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}

		for _, x := range v.Do.Exits {
			if x.Record == nil {
				continue // it cannot be read
			}
			records++
			read, err := DecodeExitRecord(string(x.Record))
			for _, text := range []string{string(x.Record), read.Encode()} {
				if bySchema := check.Valid(text); err != nil || bySchema != nil {
					t.Errorf("%s: %v, %v:\n%s", file, err, bySchema, text)
				}
			}
		}
	}

	if records < 10 {
		t.Errorf("there are %d records", records)
	}
	if err := check.Valid(longest().Encode()); err != nil {
		t.Errorf("the longest record: %v", err)
	}

	for _, wrong := range []string{
		`{}`, `{"supervisorId": "s", "startId": "0123456789abcdef"}`,
		`{"supervisorId": "s", "startId": "0123456789abcdef", "phase": "over"}`,
		`{"supervisorId": "s", "startId": "0123456789abcde", "phase": "exec"}`,
		`{"supervisorId": "", "startId": "0123456789abcdef", "phase": "exec"}`,
		`{"supervisorId": "s", "startId": "0123456789abcdef", "phase": "ended"}`,
		`{"supervisorId": "s", "startId": "0123456789abcdef", "phase": "exec", "cpuMs": -1}`,
	} {
		if _, err := DecodeExitRecord(wrong); err == nil || check.Valid(wrong) == nil {
			t.Errorf("accepted: %s", wrong)
		}
	}
}
