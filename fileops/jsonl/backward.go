package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// backward reads the complete lines of a log from last to first. It reads no more of a
// large file than necessary.
type backward struct {
	f    disk.File
	path string
	off  int64  // the offset of buf in the file
	buf  []byte // complete lines, except the beginning of the first; later lines have been returned
	seq  int64  // the number of the last returned line
	word string // lines without it, and without an escaped character, are passed over; "": none is
}

const blockSize = 16 << 10

// next returns the line before the last returned one, and io.EOF after the first line. It returns
// wire.ErrCorrupt for a line of more than trust.MaxFile bytes, and if the file ends with that
// many bytes without a newline.
func (b *backward) next() (Line, error) {
	start, err := b.findLine()
	for err == nil && len(b.buf) > 0 && !concerns(b.buf[start:], b.word) {
		b.buf = b.buf[:start]
		start, err = b.findLine()
	}
	if err != nil {
		return Line{}, err
	}
	if len(b.buf) == 0 {
		return Line{}, io.EOF
	}

	text := string(b.buf[start : len(b.buf)-1])
	seq, err := seqOf(text)
	if err == nil && b.seq != 0 && seq >= b.seq {
		err = fmt.Errorf("seq %d comes before %d", seq, b.seq)
	}
	if err != nil {
		return Line{}, fmt.Errorf("%s: line at byte %d: %w: %w", b.path, b.off+int64(start),
			wire.ErrCorrupt, err)
	}

	b.buf, b.seq = b.buf[:start], seq

	return Line{seq, text}, nil
}

// concerns reports whether word may be in line, perhaps escaped.
func concerns(line []byte, word string) bool {
	return word == "" || bytes.Contains(line, []byte(word)) || bytes.IndexByte(line, '\\') >= 0
}

// findLine returns the beginning of the last line in buf, with all of it in buf.
func (b *backward) findLine() (int, error) {
	start, end := b.lastLine(), b.off+int64(len(b.buf))
	for start == 0 && b.off > 0 {
		if err := b.load(); err != nil {
			return 0, err
		}
		if end-b.off > trust.MaxFile+blockSize && b.lastLine() == 0 {
			return 0, fmt.Errorf("%s: %w", b.path, trust.TooLarge("a line"))
		}
		start = b.lastLine()
	}
	return start, nil
}

// before returns the number of the last complete line that is not one of lines, or 0 if there is
// none, and its end.
func (b *backward) before(lines []Line) (last, end int64, err error) {
	for {
		line, err := b.next()
		if err == io.EOF {
			return 0, 0, nil
		}
		if err != nil {
			return 0, 0, err
		}
		if !slices.Contains(lines, line) {
			return line.Seq, b.off + int64(len(b.buf)+len(line.Text)+1), nil
		}
	}
}

// lastLine returns the beginning of the last line in buf, or 0 if that is not in buf.
func (b *backward) lastLine() int {
	return bytes.LastIndexByte(b.buf[:max(len(b.buf), 1)-1], '\n') + 1
}

// load puts the bytes that precede buf before it: at least as many as are in buf, so that a long
// line is not copied often. Bytes after the last newline of the file are torn and do not count. If
// the file has become shorter, a writer has cut off the part that buf belonged to.
func (b *backward) load() error {
	size := min(b.off, max(blockSize, int64(len(b.buf))))
	block := make([]byte, size, size+int64(len(b.buf)))
	n, err := b.f.ReadAt(block, b.off-size)
	if err != nil && err != io.EOF {
		return err
	}

	b.off -= size
	if n == len(block) && len(b.buf) > 0 {
		b.buf = append(block, b.buf...)
		return nil
	}

	b.buf = block[:bytes.LastIndexByte(block[:n], '\n')+1]

	return nil
}

// maxSeq is the highest number of a line.
const maxSeq = 1 << 62

// seqOf returns the number of a line.
func seqOf(line string) (seq int64, err error) {
	r := wire.NewReader(line, 0)
	r.Object(func(name string) {
		if name == "seq" {
			seq = r.Int(0)
		} else {
			r.Value()
		}
	})
	r.End()

	if err = r.Err(); err == nil && (seq < 1 || seq > maxSeq) {
		err = errors.New("seq is missing, less than 1 or more than 2^62")
	}
	return seq, err
}
