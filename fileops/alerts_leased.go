package fileops

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// appendLeased is appendAlerts where the lock may be lost: it cuts nothing off, which could be what others have appended. So it
// cannot take away a line whose fsync has failed, either, and appends what is pending whether it is there or not: a line may be
// there twice, or between others. What is there by then may be torn, at once or after a power cut, so that it begins with a
// newline.
func (l *Ledger) appendLeased(f disk.File, size int64, group string, alerts []protocol.Alert) error {
	sync := l.sync(false)
	if size == 0 && sync == SyncFull {
		if err := l.withFile(l.dir, disk.File.Sync); err != nil {
			return err
		}
	}
	if _, err := f.Write(append([]byte("\n"), linesAfter(0, group, alerts)...)); err != nil || sync == SyncNone {
		return err
	}
	return f.Sync()
}

// leasedLines returns the alerts in a file that appendLeased has written, by their numbers, each once. What is no alert is empty,
// or torn. Of a file larger than maxFile it returns those in its last maxFile bytes.
func leasedLines(f disk.File, size int64) (lines []Line, err error) {
	data := make([]byte, min(size, maxFile))
	n, err := f.ReadAt(data, size-int64(len(data)))
	if err != nil && err != io.EOF {
		return nil, err
	}
	data = data[:n]
	known := make(map[int64]bool)
	for text := range bytes.Lines(data) {
		text, complete := bytes.CutSuffix(text, []byte("\n"))
		if seq, err := seqOf(text); complete && err == nil && !known[seq] {
			known[seq] = true
			lines = append(lines, Line{seq, string(text)})
		}
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Seq, b.Seq) })
	return lines, nil
}
