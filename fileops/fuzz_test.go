package fileops

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/wire"
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

// textFile is a file for ReadAt that loses its end after a number of reads.
type textFile struct {
	disk.File
	text    []byte
	cutTo   int
	cutAt   int // reads before that; negative: never
	reads   int
	longest int // largest read
}

func (m *textFile) ReadAt(p []byte, off int64) (int, error) {
	if m.reads == m.cutAt {
		m.text = m.text[:min(m.cutTo, len(m.text))]
	}

	m.reads++
	m.longest = max(m.longest, len(p))
	if off >= int64(len(m.text)) {
		return 0, io.EOF
	}

	n := copy(p, m.text[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// forward reads the complete lines of an alerts file from the beginning. It returns the lines after
// the last one that is invalid or out of order, and whether those are all lines.
func forward(text []byte) (lines []Line, whole bool) {
	whole = true
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		line = line[:len(line)-1]
		seq := int64(0)
		var members map[string]json.RawMessage
		if jsontext.Value(line).IsValid() && json.Unmarshal(line, &members) == nil {
			if n, err := strconv.ParseInt(string(members["seq"]), 10, 64); err == nil {
				seq = n
			}
		}

		switch {
		case seq < 1, seq > layout.MaxRevision:
			lines, whole = nil, false
			continue
		case len(lines) > 0 && seq <= lines[len(lines)-1].Seq:
			lines, whole = nil, false
		}

		lines = append(lines, Line{seq, string(line)})
	}

	return lines, whole
}

// FuzzAlertLines compares the reader of alerts, which reads backwards in blocks, with one that
// reads forwards. The file is head, a gap of spaces that may be longer than a block, and tail.
func FuzzAlertLines(f *testing.F) {
	three := alertLines(1, 2, 3)
	for _, s := range []struct {
		head, tail string
		gap        uint16
	}{
		{"", "", 0}, {three, "", 0}, {three, `{"seq":4`, 0}, {"", three, 20_000},
		{three[:10], three[10:], 17_000}, {three, "x", 40_000},
		{`{"seq": 1,`, "\"a\":[]}\n{\"seq\":2}\n", 16_380}, {"{\"seq\":2}\n", "{\"seq\":2}\n", 0},
		{"{\"seq\":2}\n{\"seq\":1}\n", "", 0},
		{"{\"seq\":0}\n", "{\"seq\":9223372036854775807}\n", 1},
		{"{\"seq\":1.0}\n", "{\"seq\":2e0}\n", 0}, {"\n\n", "\n", 3},
		{"{\"seq\":1}\n\x00\x00", "", 5},
		{"{\"seq\":1,\"seq\":1}\n", "{\"seq\":\"2\"}\n", 0}, {"{\"seq\":1}{}\n", "{\"a\":1}\n", 0},
		{"{\"seq\":-0}\n", "{\"seq\":3}\r\n", 0},
	} {
		f.Add([]byte(s.head), s.gap, []byte(s.tail), uint16(0), int8(-1))
		f.Add([]byte(s.head), s.gap, []byte(s.tail), uint16(len(s.head)/2), int8(1))
	}

	f.Fuzz(func(t *testing.T, head []byte, gap uint16, tail []byte, cutTo uint16, cutAt int8) {
		text := slices.Concat(head, bytes.Repeat([]byte(" "), int(gap)), tail)
		file := &textFile{text: text, cutTo: int(cutTo), cutAt: int(cutAt)}
		b := &backward{f: file, path: "alerts", off: int64(len(text))}
		got, err := drain(t, b, len(text))
		if cutAt >= 0 {
			return // which lines there are is the writer's affair, but the reader comes to an end
		}

		want, whole := forward(text)
		slices.Reverse(want)
		if !slices.Equal(got, want) || whole != (err == nil) {
			t.Errorf("%q: got %v, %v, want %v, whole: %t", text, got, err, want, whole)
		}
		if file.longest > max(alertsBlock, len(text)) || file.reads > 2+len(text)/alertsBlock {
			t.Errorf("%d reads, of up to %d bytes, for %d bytes", file.reads, file.longest,
				len(text))
		}
	})
}

// drain returns everything that b reads before its end or an error; io.EOF is none.
func drain(t *testing.T, b *backward, size int) (lines []Line, err error) {
	t.Helper()
	for range size + 2 {
		line, err := b.next()
		if err == io.EOF {
			return lines, nil
		}

		if err != nil {
			if !errors.Is(err, wire.ErrCorrupt) {
				t.Errorf("refused with %v", err)
			}
			return lines, err
		}

		lines = append(lines, line)
	}

	t.Fatalf("more lines than the %d bytes of the file", size)
	return nil, nil
}
