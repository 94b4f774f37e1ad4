package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// lineOf returns a line with a text in it.
func lineOf(seq int64, text string) Line {
	return Line{seq, fmt.Sprintf(`{"seq": %d, "text": %q}`, seq, text)}
}

func lineText(seq int64, text string) string { return lineOf(seq, text).Text + "\n" }

// linesText returns the lines with these numbers.
func linesText(seqs ...int64) string {
	var text strings.Builder
	for _, seq := range seqs {
		text.WriteString(lineText(seq, "a text of some length"))
	}
	return text.String()
}

// testLog returns a log without a file.
func testLog(t *testing.T) Log {
	t.Helper()
	return Log{FS: &trust.FS{FS: disk.OS{}, UID: os.Geteuid()}, Path: filepath.Join(t.TempDir(), "log")}
}

func (g Log) appendSeqs(seqs ...int64) error {
	var lines []Line
	for _, seq := range seqs {
		lines = append(lines, lineOf(seq, "a text of some length"))
	}
	return g.Append(lines)
}

// on returns the same log on another file system.
func (g Log) on(fs disk.FS) Log {
	g.FS = &trust.FS{FS: fs, UID: g.FS.UID}
	return g
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	torn := linesText(3)[:30]
	for name, c := range map[string]struct {
		before string
		seqs   []int64
		want   string
	}{
		"first":               {"", []int64{1, 2}, linesText(1, 2)},
		"more":                {linesText(1, 2), []int64{3, 4}, linesText(1, 2, 3, 4)},
		"some are there":      {linesText(1, 2), []int64{1, 2, 3}, linesText(1, 2, 3)},
		"all are there":       {linesText(1, 2), []int64{1, 2}, linesText(1, 2)},
		"none":                {linesText(1) + torn, nil, linesText(1) + torn},
		"gap":                 {linesText(1), []int64{7}, linesText(1, 7)},
		"not in order, twice": {"", []int64{2, 1, 2}, linesText(1, 2)},
		"torn":                {linesText(1, 2) + torn, []int64{3}, linesText(1, 2, 3)},
		"torn at its newline": {linesText(1, 2) + strings.TrimSpace(linesText(3)), []int64{3},
			linesText(1, 2, 3)},
		"torn, nothing new": {linesText(1, 2) + torn, []int64{2}, linesText(1, 2)},
		"nothing but torn":  {torn, []int64{3}, linesText(3)},
		"zeros": {linesText(1) + strings.Repeat("\x00", 3*blockSize), []int64{2},
			linesText(1, 2)},
		"only zeros": {strings.Repeat("\x00", 2*blockSize), []int64{2}, linesText(2)},
		"written by hand": {`{"x": [1], "seq": 5, "seq2": {}}` + "\n", []int64{5, 6},
			`{"x": [1], "seq": 5, "seq2": {}}` + "\n" + linesText(6)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testLog(t)
			if c.before != "" {
				writeFile(t, g.Path, c.before)
			}

			must(t, g.appendSeqs(c.seqs...))
			if got := readText(t, g.Path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCorruptLog(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":       linesText(1) + "oops\n",
		"cut":           linesText(1) + linesText(2)[:30] + "\n",
		"no seq":        linesText(1) + `{"a": 1}` + "\n",
		"seq 0":         `{"seq": 0}` + "\n",
		"seq text":      `{"seq": "2"}` + "\n",
		"seq not whole": `{"seq": 1.5}` + "\n",
		"seq huge":      `{"seq": 99999999999999999999}` + "\n",
		"seq twice":     `{"seq": 1, "seq": 2}` + "\n",
		"two objects":   `{"seq": 1} {"seq": 2}` + "\n",
		"empty line":    linesText(1) + "\n",
		"zeros":         linesText(1) + "\x00\x00\n",
		"not an object": "[1]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testLog(t)
			writeFile(t, g.Path, text+"torn")
			_, read := g.After(0)

			for _, err := range []error{read, g.appendSeqs(1, 2, 3)} {
				if !errors.Is(err, wire.ErrCorrupt) ||
					!strings.Contains(err.Error(), g.Path) {
					t.Errorf("got %v", err)
				}
			}

			if got := readText(t, g.Path); got != text+"torn" {
				t.Errorf("it was changed to %q", got)
			}
		})
	}

	g := testLog(t)
	writeFile(t, g.Path, linesText(1, 3, 2))
	if got, err := g.After(0); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("not in order: got %v, %v", got, err)
	}
}

// counted is the operating system with a count of the bytes read, and a hook between reads.
type counted struct {
	disk.OS
	read    *int
	between func()
}

type countedFile struct {
	disk.File
	disk counted
}

func (c counted) Open(path string) (disk.File, error) {
	f, err := c.OS.Open(path)
	return countedFile{f, c}, err
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	if f.disk.between != nil {
		f.disk.between()
	}
	n, err := f.File.ReadAt(p, off)
	*f.disk.read += n
	return n, err
}

func TestBigLog(t *testing.T) {
	t.Parallel()
	g := testLog(t)
	var want []Line
	var text strings.Builder

	for seq := int64(1); seq <= 460; seq++ {
		line := lineText(seq, strings.Repeat("x", int(seq*seq%977)))
		if seq%100 == 37 {
			line = lineText(seq, strings.Repeat("y", 5*blockSize))
		}
		text.WriteString(line)
		want = append(want, Line{seq, strings.TrimSpace(line)})
	}

	writeFile(t, g.Path, text.String())
	read := 0
	counting := g.on(counted{read: &read})
	last := int64(len(want))

	for _, after := range []int64{-1, 0, 1, last / 2, last - 1, last, last + 5} {
		got, err := counting.After(after)
		if want := want[min(max(after, 0), last):]; err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d: %d lines of %d, %v", after, len(got), len(want), err)
		}
	}

	for _, after := range []int64{last - 2, last} {
		read = 0
		_, err := counting.After(after)
		if err != nil || read > 2*blockSize {
			t.Errorf("after %d of %d: it read %d bytes of %d, %v", after, last, read, text.Len(),
				err)
		}
	}
}

// Wherever a line begins and ends in a block, and wherever the file ends, the same lines come.
func TestLinesAtEveryOffset(t *testing.T) {
	t.Parallel()
	g := testLog(t)
	line := linesText(2)

	for n := blockSize - 2*len(line); n < blockSize+3; n++ {
		first := lineText(1, strings.Repeat("x", n))
		writeFile(t, g.Path, first+line+"torn")
		got, err := g.After(0)
		if want := []Line{{1, strings.TrimSpace(first)},
			{2, strings.TrimSpace(line)}}; err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d: got %v, %v", n, got, err)
		}
	}
}

// A reader may be in the middle when a writer cuts off a torn line, or what it could not fsync.
func TestLogShrinksWhileRead(t *testing.T) {
	t.Parallel()
	g := testLog(t)
	long := lineText(2, strings.Repeat("x", 3*blockSize))

	for name, c := range map[string]struct {
		tail string
		at   int
		now  string // the content of the file from the second line on, after read number at
		want []int64
	}{
		"torn":           {long[:2*blockSize], 2, "", []int64{1}},
		"torn, appended": {long[:2*blockSize], 2, linesText(2), []int64{1, 2}},
		"not fsynced":    {long, 3, "", []int64{1}},
		"gone":           {long, 1, "", []int64{1}},
	} {
		writeFile(t, g.Path, linesText(1)+c.tail)
		reads := 0
		reader := g.on(counted{read: new(int), between: func() {
			if reads++; reads == c.at {
				must(t, os.Truncate(g.Path, int64(len(linesText(1)))))
				f, err := disk.OS{}.OpenAppend(g.Path)
				must(t, err)
				_, err = f.Write([]byte(c.now))
				must(t, errors.Join(err, f.Close()))
			}
		}})

		lines, err := reader.After(0)
		var got []int64
		for _, line := range lines {
			got = append(got, line.Seq)
		}

		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// The last number is that of the last complete line, whatever follows.
func TestLast(t *testing.T) {
	t.Parallel()
	g := testLog(t)
	for _, c := range []struct {
		text string
		want int64
	}{{"", 0}, {"torn", 0}, {linesText(4), 4}, {linesText(1, 2, 7), 7}, {linesText(1, 2) +
		"torn", 2}} {
		writeFile(t, g.Path, c.text)
		if got, err := g.Last(); got != c.want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", c.text, got, err, c.want)
		}
	}

	if got, err := (Log{FS: g.FS, Path: g.Path + ".none"}).Last(); got != 0 || err != nil {
		t.Errorf("no file: got %d, %v", got, err)
	}

	writeFile(t, g.Path, linesText(1)+"oops\n")
	if _, err := g.Last(); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("corrupt: got %v", err)
	}
}

// EachWith finds all lines with a word, in each block of a long file, and those that may have it in
// escaped characters. It does not look at lines without it.
func TestEachWith(t *testing.T) {
	t.Parallel()
	g := testLog(t)
	var text strings.Builder
	for seq := int64(1); seq <= 2000; seq++ {
		word := "other"
		switch seq {
		case 1, 700, 2000:
			word = "this"
		case 3:
			word = `t\his`
		}
		text.WriteString(lineText(seq, word))
	}
	writeFile(t, g.Path, text.String()+"oops\n")

	for _, g := range []Log{g, {FS: g.FS, Path: g.Path, Leased: true}} {
		var got []int64
		err := g.EachWith("this", nil, func(line Line) bool {
			got = append(got, line.Seq)
			return line.Seq > 1
		})
		if want := []int64{2000, 700, 3, 1}; err != nil || !slices.Equal(got, want) {
			t.Errorf("leased %t: got %v, %v, want %v", g.Leased, got, err, want)
		}
	}
}
