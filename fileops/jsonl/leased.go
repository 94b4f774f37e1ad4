package jsonl

import (
	"io"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
)

// appendLeased is append for a lock that may be lost. It cuts nothing off, because that could be
// what others have appended. So it cannot remove a line whose fsync has failed either, and appends
// lines even if they are there: a line may occur twice, or between others. The end of the file may
// be torn, now or after a power cut, so it begins with a newline.
func (g Log) appendLeased(f disk.File, size int64, lines []Line) error {
	if err := g.syncName(size); err != nil {
		return err
	}
	if _, err := f.Write(append([]byte("\n"), textAfter(0, lines)...)); err != nil {
		return err
	}
	return g.FS.SyncFile(f)
}

// leasedLines returns the lines of a file written by appendLeased, sorted by number, each once.
// Others are empty or torn. For a file larger than trust.MaxFile it returns those in the last
// trust.MaxFile bytes.
func leasedLines(f disk.File, size int64) (lines []Line, err error) {
	data := make([]byte, min(size, trust.MaxFile))
	n, err := f.ReadAt(data, size-int64(len(data)))
	if err != nil && err != io.EOF {
		return nil, err
	}

	known := make(map[int64]bool)
	for text := range strings.Lines(string(data[:n])) {
		text, complete := strings.CutSuffix(text, "\n")
		if seq, err := seqOf(text); complete && err == nil && !known[seq] {
			known[seq] = true
			lines = append(lines, Line{seq, text})
		}
	}

	slices.SortFunc(lines, compare)
	return lines, nil
}
