package wire

import "io"

// Copied writes text, the value of a member as it was read, if it is unchanged and has the layout of
// a Writer. It reports whether it did.
func (w *Writer) Copied(name, text string, same bool) bool {
	if !same || !w.laidOut(text) {
		return false
	}
	w.name(name)
	w.copy(text)
	return true
}

// laidOut reports whether text ends like an object or array at this depth. A compact one, or one at
// another depth, does not.
func (w *Writer) laidOut(text string) bool {
	end := len(text) - 2 - 2*w.depth
	return end > 0 && text[end:len(text)-1] == w.indent()
}

// muchText is the length from which another system call to write a text costs less than copying it.
const muchText = 16 << 10

func (w *Writer) copy(text string) {
	if len(text) < muchText {
		w.buf = append(w.buf, text...)
		return
	}
	if w.flush(); w.err == nil {
		n, err := io.WriteString(w.out, text)
		w.written, w.err = w.written+int64(n), err
	}
}

// A Piece is the place of an object in the text that it was read from. The zero Piece is that of an
// object that was made or changed since.
type Piece struct{ Start, End int32 }

// Pieces writes an array of n objects. Each one is in text at its piece, or else has its
// members written by write. Objects that are adjacent in text, and have the layout of a Writer, are
// copied together.
func (w *Writer) Pieces(name, text string, n int, piece func(i int) Piece,
	write func(i int, w *Writer)) {
	w.name(name)
	w.open('[')

	for i := 0; i < n; {
		w.element()
		run := w.run(text, i, n, piece)
		if run > 0 {
			w.copy(text[piece(i).Start:piece(i+run-1).End])
			i += run
			continue
		}

		w.object(func(w *Writer) { write(i, w) })
		i++
		if len(w.buf) >= muchText {
			w.flush()
		}
	}

	w.close(']')
}

// run returns the number of pieces, from the one at i, that can be copied in one.
func (w *Writer) run(text string, i, n int, piece func(i int) Piece) (length int) {
	between := "," + w.indent()
	for end := int32(0); i+length < n; length++ {
		p := piece(i + length)
		if p.End == 0 || !w.laidOut(text[p.Start:p.End]) ||
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
