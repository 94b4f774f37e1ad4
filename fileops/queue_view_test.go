package fileops

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Lately adds the tasks that ended since a time, and the one before, in the order of their ends,
// and at most as many as asked for.
func TestLately(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "a")
	rememberMany(t, l, 0, 10) // old-I ended I ms after 1970
	q, err := l.ReadQueue("q")
	must(t, err)
	q.Counters.Done = 10

	for _, tt := range []struct {
		since time.Time
		most  int
		first int
		n     int
	}{
		{time.UnixMilli(7), 100, 6, 4}, {time.UnixMilli(0), 100, 0, 10}, {time.UnixMilli(0), 3, 7, 3},
		{time.UnixMilli(50), 100, 9, 1},
	} {
		got := l.Lately(q, tt.since, tt.most).Ended
		if len(got) != tt.n || got[0].ID != fmt.Sprint("old-", tt.first) || got[tt.n-1].ID != "old-9" {
			t.Errorf("since %v, at most %d: %+v", tt.since.UnixMilli(), tt.most, got)
		}
	}
	if got := l.Lately(q, time.Time{}, 0).Ended; len(got) != 0 {
		t.Errorf("at most none: %+v", got)
	}

	q.Ended = []queue.Ended{{ID: "new", At: time.UnixMilli(20)}} // the file names it, so the log is not asked
	q.Counters.Done = 11
	if got := l.Lately(q, time.UnixMilli(9), 100).Ended; len(got) != 3 || got[2].ID != "new" {
		t.Errorf("beside one that the file names: %+v", got)
	}
}

// The end of the log of an attempt is its last lines, and what was cut out of its middle is told.
func TestAttemptEnd(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "a")
	text, err := l.AttemptEnd("q", "a", 1, 3)
	if cut, cutErr := l.AttemptCut("q", "a", 1); err != nil || cutErr != nil || len(text) != 0 || cut != 0 {
		t.Errorf("no log: %q, %d, %v, %v", text, cut, err, cutErr)
	}

	path := l.AttemptLog("q", "a", 1)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte("one\ntwo\nthree\nfour\n"), 0o600))
	text, err = l.AttemptEnd("q", "a", 1, 2)
	if must(t, err); !strings.HasSuffix(string(text), "three\nfour\n") || strings.Contains(string(text), "one") {
		t.Errorf("the last two lines: %q", text)
	}
	cut, err := l.AttemptCut("q", "a", 1)
	if must(t, err); cut != 0 {
		t.Errorf("%d bytes were cut from a whole log", cut)
	}

	// A hole after the head was cut; an earlier one the command has made.
	for _, tt := range []struct{ head, cut int64 }{{10, 0}, {logs.KeptHead, 1 << 20}} {
		must(t, os.WriteFile(path, make([]byte, tt.head), 0o600))
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt([]byte("end\n"), logs.KeptHead+1<<20)
		must(t, err)
		must(t, f.Close())
		cut, err := l.AttemptCut("q", "a", 1)
		if err != nil || cut != tt.cut {
			t.Errorf("after %d bytes, %d were cut, want %d: %v", tt.head, cut, tt.cut, err)
		}
	}
}
