package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A line is the text without its white space, whatever is in it.
func TestLineIsCompactText(t *testing.T) {
	t.Parallel()
	const source = `[{"id": "a"}, {"id": "b"}]`
	pieces := []Piece{{1, 12}, {14, 25}}
	write := func(w *Writer) {
		w.Object("none", func(*Writer) {})
		w.Strings("empty", nil)
		w.String("a \"name\"", " a\ttext, with: space ")
		w.Words("words", []string{"1", "a"})
		w.Object("object", func(w *Writer) { w.Int("n", 1); w.Bool("b", true) })
		w.AllMilliseconds("ms", []time.Duration{time.Second, time.Millisecond})
		w.Raw("raw", `{"a":[1,2]}`)
		w.Times("times", []time.Time{time.Unix(1, 0), time.Unix(2, 0)})
		piece := func(i int) Piece { return pieces[i] }
		w.Rows("rows", source, 2, piece, func(i int, w *Writer) { w.Int("row", int64(i)) })
		w.Rows("new", source, 2, func(int) Piece { return Piece{} },
			func(i int, w *Writer) { w.Int("row", int64(i)); w.Int("n", 0) })
		w.Unknown([]Member{{"x", "[ 1,\n {\"y\": \"a b\"} ]"}, {"n", "1.50"},
			{"much", "[" + strings.Repeat(" 1,", mostLaid) + " 2]"}})
	}

	want := jsontext.Value(Text(write))
	if err := want.Compact(); err != nil {
		t.Fatal(err)
	}
	// A line copies no rows, since these have white space: it writes them.
	rows := strings.Replace(string(want), `"rows":[{"id":"a"},{"id":"b"}]`,
		`"rows":[{"row":0},{"row":1}]`, 1)
	if got := Line(write); got != rows {
		t.Errorf("got  %.600s\nwant %.600s", got, rows)
	}
}
