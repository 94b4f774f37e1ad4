package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/wire"
)

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

// forward reads the complete lines of a log from the beginning. It returns the lines after
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
		case seq < 1, seq > maxSeq:
			lines, whole = nil, false
			continue
		case len(lines) > 0 && seq <= lines[len(lines)-1].Seq:
			lines, whole = nil, false
		}

		lines = append(lines, Line{seq, string(line)})
	}

	return lines, whole
}

// FuzzLines compares the reader of a log, which reads backwards in blocks, with one that
// reads forwards. The file is head, a gap of spaces that may be longer than a block, and tail.
func FuzzLines(f *testing.F) {
	three := linesText(1, 2, 3)
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
		if file.longest > max(blockSize, len(text)) || file.reads > 2+len(text)/blockSize {
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
