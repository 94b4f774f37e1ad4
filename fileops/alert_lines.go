package fileops

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Line is one line of an alerts file, without its newline.
type Line struct {
	Seq  int64
	Text string
}

// backward reads the complete lines of an alerts file from last to first. It reads no more of a
// large file than necessary.
type backward struct {
	f    disk.File
	path string
	off  int64  // the offset of buf in the file
	buf  []byte // complete lines, except the beginning of the first; later lines have been returned
	seq  int64  // the number of the last returned line
}

const alertsBlock = 16 << 10

// next returns the line before the last returned one, and io.EOF after the first line. It returns
// wire.ErrCorrupt for a line of more than trust.MaxFile bytes, and if the file ends with that
// many bytes without a newline.
func (b *backward) next() (Line, error) {
	start, end := b.lastLine(), b.off+int64(len(b.buf))
	for start == 0 && b.off > 0 {
		if err := b.load(); err != nil {
			return Line{}, err
		}
		if end-b.off > trust.MaxFile+alertsBlock && b.lastLine() == 0 {
			return Line{}, fmt.Errorf("%s: %w", b.path, trust.TooLarge("a line"))
		}
		start = b.lastLine()
	}

	if len(b.buf) == 0 {
		return Line{}, io.EOF
	}

	text := b.buf[start : len(b.buf)-1]
	seq, err := seqOf(text)
	if err == nil && b.seq != 0 && seq >= b.seq {
		err = fmt.Errorf("seq %d comes before %d", seq, b.seq)
	}
	if err != nil {
		return Line{}, fmt.Errorf("%s: line at byte %d: %w: %w", b.path, b.off+int64(start),
			wire.ErrCorrupt, err)
	}

	b.buf, b.seq = b.buf[:start], seq

	return Line{seq, string(text)}, nil
}

// before returns the number of the last complete line that is not one of alerts, or 0 if there is
// none, and its end.
func (b *backward) before(alerts []group.Alert, groupID string) (last, end int64, err error) {
	for {
		line, err := b.next()
		if err == io.EOF {
			return 0, 0, nil
		}
		if err != nil {
			return 0, 0, err
		}

		is := func(a group.Alert) bool {
			return a.Seq == line.Seq && alertLine(groupID, a) == line.Text+"\n"
		}

		if !slices.ContainsFunc(alerts, is) {
			return line.Seq, b.off + int64(len(b.buf)+len(line.Text)+1), nil
		}
	}
}

// lastLine returns the beginning of the last line in buf, or 0 if that is not in buf.
func (b *backward) lastLine() int {
	return bytes.LastIndexByte(b.buf[:max(len(b.buf), 1)-1], '\n') +
		1
}

// load puts the bytes that precede buf before it: at least as many as are in buf, so that a long
// line is not copied often. Bytes after the last newline of the file are torn and do not count. If
// the file has become shorter, a writer has cut off the part that buf belonged to.
func (b *backward) load() error {
	size := min(b.off, max(alertsBlock, int64(len(b.buf))))
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

// seqOf returns the number of the alert in a line.
func seqOf(line []byte) (seq int64, err error) {
	err = readObject(line, func(r *wire.Reader, name string) {
		if name == "seq" {
			seq = r.Int(0)
		} else {
			r.Value()
		}
	})

	if err == nil && (seq < 1 || seq > layout.MaxRevision) {
		err = errors.New("seq is missing, less than 1 or more than 2^62")
	}
	return seq, err
}

func linesAfter(seq int64, groupID string, alerts []group.Alert) []byte {
	var text []byte
	for _, alert := range slices.SortedFunc(slices.Values(alerts),
		func(a, b group.Alert) int { return cmp.Compare(a.Seq, b.Seq) }) {
		if alert.Seq > seq {
			seq = alert.Seq
			text = append(text, alertLine(groupID, alert)...)
		}
	}
	return text
}

// alertLine returns the line of alert in the alerts file of group.
func alertLine(groupID string, alert group.Alert) string {
	log := ""
	if alert.ServiceID != "" {
		log = filepath.ToSlash(layout.LogOf(groupID, alert.ServiceID))
	}
	return alert.Line(groupID, log)
}
