package fileops

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/protocol/queue"
)

// rememberMany remembers tasks that ended long ago, until there are so many, and indexes them.
func rememberMany(t *testing.T, l *Ledger, from, to int) {
	t.Helper()
	var lines []jsonl.Line
	for i := from; i < to; i++ {
		r := queue.Remembered{Seq: int64(i) + 1, Ended: queue.Ended{ID: fmt.Sprint("old-", i),
			End: queue.EndedDone, Spec: queue.Content("{}").Hash(), At: time.UnixMilli(int64(i))}}
		lines = append(lines, jsonl.Line{Seq: r.Seq, Text: r.Line()})
	}
	must(t, l.endedLog("q").Append(lines))
	must(t, l.indexEnded("q"))
}

// read returns how much of the log of ended tasks is read to find a task, and checks whether it is known.
func (l *Ledger) readFor(t *testing.T, task string, known bool) (size int64) {
	t.Helper()
	must(t, l.endedLog("q").EachWith(task, func(log disk.File, info disk.Info) []jsonl.Part {
		index, has, err := l.fs.OpenFile(l.EndedIndex("q"), l.fs.Open)
		must(t, err)
		defer index.Close()
		parts := mayHave(log, info, index, has.Size, task)
		for _, p := range parts {
			size += p.To - p.From
		}
		return parts
	}, func(jsonl.Line) bool { return true }))
	if ended, is := l.PastTask("q", task); is != known || is && ended.ID != task {
		t.Errorf("%s: known: %t, %+v", task, is, ended)
	}
	return size
}

// Of tasks that ended long ago, however many, little is read to find that there is none with an id, or
// which it is. What the index says counts only for the log that it was made of.
func TestEndedIndex(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "a")
	const many = 40_000
	for i := 0; i < many; i += many / 8 {
		rememberMany(t, l, i, i+many/8)
	}
	info, err := os.Stat(l.EndedPath("q"))
	must(t, err)
	most := int64(0)
	for i := range 200 {
		most = max(most, l.readFor(t, fmt.Sprint("new-", i), false))
		most = max(most, l.readFor(t, fmt.Sprint("old-", i*many/200), true))
	}
	if info.Size() < 5*blockLog || most > 4*blockLog {
		t.Errorf("up to %d of %d bytes were read", most, info.Size())
	}

	// The log is restored in place, or tidied up: the index no longer fits.
	text, err := os.ReadFile(l.EndedPath("q"))
	must(t, err)
	q, err := l.ReadQueue("q")
	must(t, err)
	must(t, os.Remove(l.EndedPath("q")))
	var other []jsonl.Line
	for i := range many {
		r := queue.Remembered{Seq: int64(i) + 1, Ended: queue.Ended{ID: fmt.Sprint("odd-", i),
			End: queue.EndedDone, Spec: queue.Content("{}").Hash(), At: time.UnixMilli(int64(i))}}
		other = append(other, jsonl.Line{Seq: r.Seq, Text: r.Line()})
	}
	must(t, l.endedLog("q").Append(other))
	l.readFor(t, "odd-7", true)
	l.readFor(t, "old-7", false)

	must(t, os.WriteFile(l.EndedPath("q"), text, 0o600)) // in place
	l.readFor(t, "odd-7", false)
	l.readFor(t, "old-7", true)
	must(t, l.forget(&q, time.UnixMilli(many/2)))
	l.readFor(t, "old-7", false)
	if size := l.readFor(t, fmt.Sprint("old-", many-1), true); size > 3*blockLog {
		t.Errorf("after tidying up, %d bytes are read", size)
	}
	must(t, os.WriteFile(l.EndedIndex("q"), []byte(indexMagic+"torn"), 0o600))
	l.readFor(t, fmt.Sprint("old-", many-1), true)
}
