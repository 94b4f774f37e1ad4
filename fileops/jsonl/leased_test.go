package jsonl

import (
	"slices"
	"strings"
	"testing"
)

func leasedLog(t *testing.T) Log {
	t.Helper()
	g := testLog(t)
	g.Leased = true
	return g
}

// seqsAfter are the numbers that a reader sees.
func seqsAfter(t *testing.T, g Log, after int64) (seqs []int64) {
	t.Helper()
	lines, err := g.After(after)
	must(t, err)
	for _, line := range lines {
		seqs = append(seqs, line.Seq)
	}
	return seqs
}

// If a lock may be lost, a line may occur twice, between others, or torn. Readers see each alert
// once, in order.
func TestLeasedLinesAreReadInOrder(t *testing.T) {
	t.Parallel()
	torn := linesText(9)[:30]
	for name, c := range map[string]struct {
		text string
		want []int64
	}{
		"in order":        {linesText(1, 2, 3), []int64{1, 2, 3}},
		"twice":           {linesText(1, 2, 1, 2, 3), []int64{1, 2, 3}},
		"between others":  {linesText(1, 3, 2), []int64{1, 2, 3}},
		"torn at the end": {linesText(1, 2) + torn, []int64{1, 2}},
		"torn between":    {linesText(1, 2) + torn + "\n" + linesText(3), []int64{1, 2, 3}},
		"no newline yet":  {linesText(1, 2) + strings.TrimSpace(linesText(3)), []int64{1, 2}},
		"nothing":         {"", nil},
	} {
		g := leasedLog(t)
		writeFile(t, g.Path, c.text)
		if got := seqsAfter(t, g, 0); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if got, want := seqsAfter(t, g, 1), c.want[min(1, len(c.want)):]; !slices.Equal(got,
			want) {
			t.Errorf("%s: after 1: got %v, want %v", name, got, want)
		}

		want := int64(len(c.want))
		if last, err := g.Last(); last != want || err != nil {
			t.Errorf("%s: the last one is %d (%v), want %d", name, last, err, want)
		}
	}
}

// Nothing in the file is cut off, because others may have written it, nor relied on, because its
// fsync may have failed. After a torn line, a new line begins.
func TestLeasedLinesAreAppended(t *testing.T) {
	t.Parallel()
	torn := linesText(3)[:30]
	for name, c := range map[string]struct {
		before string
		seqs   []int64
		want   string
	}{
		"first": {"", []int64{1, 2}, "\n" + linesText(1, 2)},
		"some are there": {linesText(1, 2), []int64{1, 2, 3}, linesText(1, 2) + "\n" +
			linesText(1, 2, 3)},
		"the last is above": {linesText(1, 3, 2), []int64{2, 3, 4}, linesText(1, 3, 2) + "\n" +
			linesText(2, 3, 4)},
		"torn": {linesText(1, 2) + torn, []int64{3}, linesText(1, 2) + torn + "\n" +
			linesText(3)},
	} {
		g := leasedLog(t)
		writeFile(t, g.Path, c.before)
		must(t, g.appendSeqs(c.seqs...))
		if got := readText(t, g.Path); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A power cut turns lines whose fsync has failed into zeros, although readers had seen them. What
// was appended after them stays readable.
func TestLeasedLinesAfterLostOnes(t *testing.T) {
	t.Parallel()
	g := leasedLog(t)
	lost := linesText(1, 2)
	writeFile(t, g.Path, lost)
	must(t, g.appendSeqs(1, 2, 3))
	writeFile(t, g.Path, strings.Repeat("\x00", len(lost))+readText(t,
		g.Path)[len(lost):])
	if got := seqsAfter(t, g, 0); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("got %v", got)
	}
}
