package fileops

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzDecodeConfig checks that an accepted ledger.json means the same to any reader of JSON, is
// encoded and decoded again to the same, and has a known version and way to commit.
func FuzzDecodeConfig(f *testing.F) {
	for _, text := range []string{
		`{"protocolVersion": 1, "commit": "rename", "shared": false, "resourceRoots": []}`,
		`{"protocolVersion":1,"commit":"rename","shared":true,"resourceRoots":["/a","/b/c"],"x":{"y":[1e5,-0]}}`,
		`{"protocolVersion":2,"commit":"link"}`, `{"protocolVersion":1,"commit":"link"}`,
		`{"protocolVersion":1.0,"commit":"rename"}`,
		`{"protocolVersion":1,"protocolVersion":1,"commit":"rename"}`,
		`{"protocolVersion":1,"commit":"rename","resourceRoots":["/"]}`,
		`{"protocolVersion":1,"commit":"rename","resourceRoots":["a"]}`,
		`{"protocolVersion":1,"commit":"rename","resourceRoots":["/a/"]}`,
		`{"protocolVersion":1,"commit":"rename"} {}`, `{"protocolVersion":1,"commit":"rename"`,
		`{}`, `[]`, ``, "{\"commit\":\"\xff\"}",
		`{"protocolVersion":99999999999999999999,"commit":"rename"}`,
		`{"protocolVersion":null,"commit":"rename"}`,
	} {
		f.Add([]byte(text))
	}

	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeConfig(bytes.Clone(data))
		if err != nil {
			return
		}

		var want struct {
			ProtocolVersion int      `json:"protocolVersion"`
			Commit          string   `json:"commit"`
			Shared          bool     `json:"shared"`
			ResourceRoots   []string `json:"resourceRoots"`
		}
		decodeExact(t, data, &want)
		known := got.Commit == CommitRename || got.Commit == CommitLink
		if got.ProtocolVersion != 1 || !known || got.Commit != want.Commit ||
			got.Shared != want.Shared || !slices.Equal(got.ResourceRoots, want.ResourceRoots) {
			t.Errorf("%q: got %+v, want %+v", data, got, want)
		}

		for _, root := range got.ResourceRoots {
			if !filepath.IsAbs(root) || filepath.Dir(root) == root {
				t.Errorf("resource root %q", root)
			}
		}

		written, err := got.encode()
		if err != nil {
			t.Fatal(err)
		}

		again, err := decodeConfig(written)
		if err != nil || again.Shared != got.Shared ||
			!slices.Equal(again.ResourceRoots, got.ResourceRoots) {
			t.Errorf("%+v is written %q, which is %+v, %v", got, written, again, err)
		}
	})
}

// decodeExact decodes the members of data into fields with exactly their names. Package json alone
// would also accept names that differ in case.
func decodeExact(t *testing.T, data []byte, to any) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatalf("%q is accepted, but it is no object: %v", data, err)
	}

	for name := range members {
		switch name {
		case "protocolVersion", "commit", "shared", "resourceRoots", "root", "path":
		default:
			delete(members, name)
		}
	}

	known, err := json.Marshal(members)
	if err == nil {
		err = json.Unmarshal(known, to)
	}
	if err != nil {
		t.Fatalf("%q is accepted, but not by package json: %v", data, err)
	}
}

// FuzzDecodeJournal checks that an accepted note means the same to any reader of JSON, and is
// encoded and decoded again to the same.
func FuzzDecodeJournal(f *testing.F) {
	for _, text := range []string{
		`{"root": "/r", "path": "a/.dpl-trash-0123456789abcdef"}`,
		`{"root":"/r\u002f..","path":"..","x":[{}]}`, `{"root":"/r"}`,
		`{"root":"/r","path":"a"} `, `{"root":"/r","path":"a"}}`, `{"root":"/r","pa`,
		`{"root":"/r","root":"/s"}`, `{"root":1}`, ``, `null`,
		"{\"root\":\"\xff\"}", `{"root":"\ud800"}`, `{"root":"a\nb\u0000","path":"é"}`,
	} {
		f.Add([]byte(text))
	}

	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeJournal(bytes.Clone(data))
		if err != nil {
			return
		}

		var want struct {
			Root string `json:"root"`
			Path string `json:"path"`
		}
		decodeExact(t, data, &want)
		if got != (journal{root: want.Root, path: want.Path}) {
			t.Errorf("%q: got %+v, want %+v", data, got, want)
		}

		written, err := got.encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeJournal(written); err != nil || again != got {
			t.Errorf("%+v is written %q, which is %+v, %v", got, written, again, err)
		}
	})
}
