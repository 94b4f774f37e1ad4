package wire

import (
	"io"
	"strings"
)

// Copied writes text, the value of a member as it was read, if it is unchanged and has the layout
// of a Writer. It reports whether it did.
func (w *Writer) Copied(name, text string, same bool) bool {
	if !same || !w.laidOut(text) {
		return false
	}
	w.name(name)
	w.copy(text, text[:1]+text[len(text)-1:])
	return true
}

// A Kept is an array of objects as it was read, with its text, so that it is copied if it is
// unchanged.
type Kept[T any] struct {
	all  []T
	text string
}

// Objects is Objects of c, and copies the array if all is the one that was read.
func (k *Kept[T]) Objects(c *Codec, name string, all *[]T, record func(*T, *Codec), when When) {
	if c.w != nil && (when == Always || len(*all) > 0) &&
		c.w.Copied(name, k.text, SameSlice(*all, k.all)) {
		return
	}
	start := 0
	if c.r != nil {
		start = c.r.at
	}
	if Objects(c, name, all, record, when) {
		k.all, k.text = *all, c.r.text[start:c.end]
	}
}

// laidOut reports whether text ends like an object or array at this depth. A compact one, or one at
// another depth, does not.
func (w *Writer) laidOut(text string) bool {
	end := len(text) - 2 - 2*w.depth
	return !w.compact && end > 0 && text[end:len(text)-1] == w.indent()
}

// hasLayout reports whether text is laid out as an object at this depth, or as a row.
func (w *Writer) hasLayout(text string, row bool) bool {
	if row && !w.compact {
		return strings.IndexByte(text, '\n') < 0
	}
	return w.laidOut(text)
}

// muchText is the length from which another system call to write a text costs less than copying it.
const muchText = 16 << 10

// copy writes text. sample stands for it in a sample.
func (w *Writer) copy(text, sample string) {
	w.sample(sample)
	if len(text) < muchText || w.out == nil {
		w.buf = append(w.buf, text...)
		w.sampled = len(w.buf)
		return
	}
	if w.flush(); w.err == nil {
		n, err := io.WriteString(w.out, text)
		w.written, w.err = w.written+int64(n), err
	}
}

// sample gives what is in buf, and then text, to the sampler.
func (w *Writer) sample(text string) {
	if w.sampler == nil {
		return
	}
	w.sampler.Sample(w.buf[w.sampled:])
	w.sampler.Sample([]byte(text))
	w.sampled = len(w.buf)
}

// A Piece is the place of an object in the text that it was read from. The zero Piece is that of an
// object that was made or changed since.
type Piece struct{ Start, End int32 }

// Pieces writes an array of n objects. Each one is in text at its piece, or else has its
// members written by write. Objects that are adjacent in text, and have the layout of a Writer, are
// copied together.
func (w *Writer) Pieces(name, text string, n int, piece func(i int) Piece,
	write func(i int, w *Writer)) {
	w.pieces(name, text, n, piece, write, false)
}

// Rows is Pieces with each object on a line of its own, like the rows of a table.
func (w *Writer) Rows(name, text string, n int, piece func(i int) Piece,
	write func(i int, w *Writer)) {
	w.pieces(name, text, n, piece, write, true)
}

func (w *Writer) pieces(name, text string, n int, piece func(i int) Piece,
	write func(i int, w *Writer), rows bool) {
	w.name(name)
	w.open('[')

	for i := 0; i < n; {
		w.element()
		run := w.run(text, i, n, piece, rows)
		if run > 0 {
			last := piece(i + run - 1)
			w.copy(text[piece(i).Start:last.End], text[last.Start:last.End])
			i += run
			continue
		}

		w.row = rows
		w.object(func(w *Writer) { write(i, w) })
		w.row = false
		i++
		if len(w.buf) >= muchText {
			w.flush()
		}
	}

	w.close(']')
}

// run returns the number of pieces, from the one at i, that can be copied in one.
func (w *Writer) run(text string, i, n int, piece func(i int) Piece, rows bool) (length int) {
	between := "," + w.indent()
	for end := int32(0); i+length < n; length++ {
		p := piece(i + length)
		if p.End == 0 || !w.hasLayout(text[p.Start:p.End], rows) ||
			length > 0 && (p.Start < end || text[end:p.Start] != between) {
			break
		}
		end = p.End
	}

	return length
}

// SameSlice reports whether a and b are the same slice. Verbs only ever append to a copy.
func SameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
