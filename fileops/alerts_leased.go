package fileops

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
)

// appendLeased is appendAlerts for a lock that may be lost. It cuts nothing off, because that could
// be what others have appended. So it cannot remove a line whose fsync has failed either, and
// appends pending alerts even if they are there: a line may occur twice, or between others. The end
// of the file may be torn, now or after a power cut, so it begins with a newline.
func (l *Ledger) appendLeased(f disk.File, size int64, group string,
	alerts []group.Alert) error {
	if size == 0 {
		if err := l.fs.SyncDir(l.Dir()); err != nil {
			return err
		}
	}

	if _, err := f.Write(append([]byte("\n"), linesAfter(0, group, alerts)...)); err != nil {
		return err
	}
	return l.fs.SyncFile(f)
}

// leasedLines returns the alerts in a file written by appendLeased, sorted by number, each once.
// Lines that are not alerts are empty or torn. For a file larger than trust.MaxFile it returns those
// in the last trust.MaxFile bytes.
func leasedLines(f disk.File, size int64) (lines []Line, err error) {
	data := make([]byte, min(size, trust.MaxFile))
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
