package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The vectors of spec/vectors/audit about the end of the log that an edit finds (spec §52.1,
// §57.1).
func TestVectors(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../spec/vectors/audit/edit-*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
		var v struct {
			Log  string
			File struct{ Audit json.RawMessage }
			Then struct{ Cut, Restored int64 }
		}
		must(t, json.Unmarshal(data, &v))
		var chain audit.Chain
		if v.File.Audit != nil {
			chain, err = wire.Decode(string(v.File.Audit), 1, func(r *wire.Reader) (c audit.Chain) {
				c.Record(r.Codec())
				return c
			})
			must(t, err)
		}

		log := filepath.Join(t.TempDir(), "log.audit.jsonl")
		must(t, os.WriteFile(log, []byte(v.Log), 0o600))
		files := &trust.FS{FS: disk.OS{}, UID: disk.OS{}.Euid()}
		g := At(log, files, false).Open(func() error { return nil })
		after, restored := g.Follow(chain)
		got := fmt.Sprint(g.end, g.Err, restored, after.Seq)
		want := fmt.Sprint(v.Then.Cut, nil, v.Then.Restored > 0, max(v.Then.Restored, chain.Seq))
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
		g.Close()
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
