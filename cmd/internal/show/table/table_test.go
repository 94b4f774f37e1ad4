package table

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// stack returns an operation of calls with these ids.
func stack(t *testing.T, calls ...string) model.Operation {
	t.Helper()
	op, err := protocol.Create("o", "", 0, 0), error(nil)
	seen := observe.Observation{Now: noon}

	for i, call := range calls {
		op, err = op.Push(protocol.Push{Participant: "worker", Call: call, PID: 1000 + i}, seen)
		if err != nil {
			t.Fatal(err)
		}
	}

	return model.Operation{Operation: op, Seen: observe.Observation{Now: noon.Add(3 * time.Second)}}
}

// firsts returns the first word of each line of text, after the tree before it.
func firsts(text string) (words []string) {
	for line := range strings.Lines(text) {
		if word := strings.Fields(strings.TrimLeft(line, " │├└─|`-")); len(word) > 0 {
			words = append(words, word[0])
		}
	}
	return words
}

// The id of each call is the first word after the tree, whole or cut. Different ids stay different
// when cut, and no line is wider than the terminal, whatever the number of calls and their names.
func TestWidth(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c](build|x{0,60})[a-z0-9:_-]{0,30}[0-9]`), 1, 50, rapid.ID).Draw(r, "calls")
		width := rapid.IntRange(70, 200).Draw(r, "width")
		style := Style{Width: width, ASCII: rapid.Bool().Draw(r, "ascii")}
		op := stack(t, ids...)
		text := style.Operation(op)

		for line := range strings.Lines(text) {
			if n := columns(strings.TrimSuffix(line, "\n")); n > width {
				r.Fatalf("%d columns, want at most %d: %q", n, width, line)
			}
		}

		rows := firsts(text)[2:] // after the state and the titles
		if len(rows) != len(ids) {
			r.Fatalf("%d calls, want %d\n%s", len(rows), len(ids), text)
		}

		seen := make(map[string]string)
		for i, row := range rows {
			if seen[row] != "" {
				r.Fatalf("%q and %q are both %q", seen[row], ids[i], row)
			}
			seen[row] = ids[i]
			begin, end, cut := strings.Cut(row, style.dots())
			if !cut && row != ids[i] || !strings.HasPrefix(ids[i], begin) || !strings.HasSuffix(ids[i], end) {
				r.Fatalf("%q stands for %q", row, ids[i])
			}
		}
	})
}

// In a pipe nothing is cut.
func TestPiped(t *testing.T) {
	var ids []string
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("call-%s-%02d", strings.Repeat("x", 100), i))
	}
	rows := firsts(Style{}.Operation(stack(t, ids...)))[2:]
	if strings.Join(rows, " ") != strings.Join(ids, " ") {
		t.Errorf("got %q", rows)
	}
}

// The part in which made-up ids differ is kept.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		ids, want string
		width     int
	}{
		{"make-0000aaaa make-0000aaab", "ma…aaaa ma…aaab", 7},
		{"make-0000aaaa make", "ma…aaaa make", 7},
		{"aaaa-backup-night bbbb-backup-night", "aa…ight bb…ight", 7},
		{"x-aaaa-backup-night x-bbbb-backup-night", "x-a…ght x-b…ght", 7},
		{"aaaaaaaaaaaa0bbbbbbbbbbbb aaaaaaaaaaaa1bbbbbbbbbbbb", "", 7},
		{"aaaaaaaaaaaaa1 aaaaaaaaaaaaaaa1", "", 7},
		{"abcdefgh", "", 2},
	} {
		got, ok := Style{}.cut(strings.Fields(c.ids), c.width)
		if strings.Join(got, " ") != c.want && ok || ok != (c.want != "") {
			t.Errorf("%s at %d: got %q, %v, want %q", c.ids, c.width, got, ok, c.want)
		}
	}
}

// Drawing leaves what it draws from as it is: the next drawing may be wider.
func TestAgain(t *testing.T) {
	op := stack(t, "make-with-a-long-name-0000aaaa", "cc")
	want := Style{Width: 120}.Operation(op)
	Style{Width: 40}.Operation(op)
	if got := (Style{Width: 120}).Operation(op); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestColour(t *testing.T) {
	op := stack(t, "make")
	plain, coloured := Style{Width: 80}.Operation(op), Style{Width: 80, Colour: true}.Operation(op)
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[32malive\x1b[0m") {
		t.Errorf("got %q and %q", plain, coloured)
	}

	for _, code := range codes[strong:] {
		coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
	}

	if coloured = strings.ReplaceAll(coloured, "\x1b[0m", ""); coloured != plain {
		t.Errorf("without colour it is\n%s, want\n%s", coloured, plain)
	}
}

// A folded note takes one line, as wide as there is room, and an unfolded one is whole.
func TestFold(t *testing.T) {
	op := stack(t, "make")
	op.Stack[0].Description = strings.Repeat("word ", 40) + "end"
	whole, folded := Style{Width: 40}.Operation(op), Style{Width: 40, Fold: true}.Operation(op)
	if !strings.Contains(whole, "end\n") || strings.Count(whole, "word") != 40 {
		t.Errorf("the whole note is not there:\n%s", whole)
	}

	lines := strings.Split(strings.TrimSpace(folded), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if strings.Count(folded, "\n") >= strings.Count(whole, "\n") || !strings.HasSuffix(last, "word…") {
		t.Errorf("the note is not folded:\n%s", folded)
	}
	for _, line := range lines {
		if columns(line) > 40 {
			t.Errorf("%q is too wide", line)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 3, "日本語": 6, "e\u0301": 1, "🙂": 2, "…└": 2} {
		if got := columns(in); got != want {
			t.Errorf("%q: got %d columns, want %d", in, got, want)
		}
	}

	for in, want := range map[string]string{"one two three": "one|two|three", "a b c d": "a b c|d", "abcdefgh ij": "abcde|fgh|ij", "日本語": "日本|語", "": ""} {
		if got := strings.Join(wrap(in, 5), "|"); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}

	if got := strings.Join(wrap("日本", 1), "|"); got != "日|本" {
		t.Errorf("too narrow for a character: got %q", got)
	}

	for in, want := range map[time.Duration]string{
		0: "0s ago", 1500 * time.Microsecond: "1ms ago", 61500 * time.Millisecond: "1m1s ago", 48 * time.Hour: "2d0h ago", 75 * time.Hour: "3d3h ago",
		-time.Hour: "in 1h0m0s", math.MinInt64: "in 106751d23h",
	} {
		if got := explain.Ago(in); got != want {
			t.Errorf("%v: got %q, want %q", in, got, want)
		}
	}
}
