package fileops

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/protocol"
)

// appendLeased is appendAlerts where the lock may be lost: it cuts nothing off, which could be what others have appended. So it
// cannot take away a line whose fsync has failed, either, and appends what is pending whether it is there or not: a line may be
// there twice, or between others, and a torn one stays.
func (l *Ledger) appendLeased(f File, size int64, group string, alerts []protocol.Alert) error {
	lines, torn, err := leasedLines(f, size)
	sync := l.sync(false)
	if err == nil && len(lines) == 0 && sync == SyncFull {
		err = l.withFile(l.dir, File.Sync)
	}
	if err != nil {
		return err
	}
	text := linesAfter(0, group, alerts)
	if torn {
		text = append([]byte("\n"), text...)
	}
	if _, err := f.Write(text); err != nil || sync == SyncNone {
		return err
	}
	return f.Sync()
}

// leasedLines returns the alerts in a file that appendLeased has written, by their numbers, each once, and whether something
// follows its last newline. What is no alert is a torn line.
func leasedLines(f File, size int64) (lines []Line, torn bool, err error) {
	data, err := readAll(f, size)
	if err != nil {
		return nil, false, err
	}
	known := make(map[int64]bool)
	for text := range bytes.Lines(data) {
		text, complete := bytes.CutSuffix(text, []byte("\n"))
		torn = !complete
		if seq, err := seqOf(text); complete && err == nil && !known[seq] {
			known[seq] = true
			lines = append(lines, Line{seq, string(text)})
		}
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Seq, b.Seq) })
	return lines, torn, nil
}
