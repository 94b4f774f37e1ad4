package group

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// FuzzDecode checks that what is decoded is encoded, and decoded again, to the same value, and
// that everything else is refused with a wire.Error.
func FuzzDecode(f *testing.F) {
	for i, file := range vectors.Files(f, "../..", "groups", 40) {
		if testing.Short() && i%5 > 0 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}

		var v struct {
			Given, Then map[string]json.RawMessage
			GivenText   map[string]string
		}
		if err := json.Unmarshal(data, &v); err != nil {
			f.Fatal(err)
		}

		for _, files := range []map[string]json.RawMessage{v.Given, v.Then} {
			for _, text := range files {
				f.Add(string(text))
			}
		}

		for _, text := range v.GivenText {
			f.Add(text)
		}
	}

	f.Fuzz(func(t *testing.T, text string) {
		checkDecodePart(t, text, DecodeOrchestrator, Orchestrator.Encode, orchestratorShape)
		checkDecodePart(t, text, DecodeRegistry, Registry.Encode, registryShape)
	})
}

func checkDecodePart[T any](t *testing.T, text string,
	decode func(string) (T, error), encode func(T) string, s *vectors.Shape) {
	value, err := decode(text)
	if err != nil {
		if e, ok := errors.AsType[*wire.Error](err); !ok || !errors.Is(e, wire.ErrCorrupt) &&
			!errors.Is(e, wire.ErrNewerVersion) {
			t.Fatalf("refused with %v", err)
		}
		return
	}

	encoded := encode(value)
	again, err := decode(encoded)
	if err != nil {
		t.Fatalf("what was encoded is refused: %v\n%s", err, encoded)
	}
	if got := encode(again); got != encoded {
		t.Fatalf("encoded:\n%s\nencoded again:\n%s", encoded, got)
	}

	vectors.CheckKeeps(t, text, encoded, s)
}
