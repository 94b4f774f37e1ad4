package work

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/statusline"
	"github.com/dpl-project/dpl/protocol/queue"
)

// The line says what happened since it began.
func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &progress{id: "build",
		line: &statusline.Line{Out: &out, Width: func() int { return 80 }}}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	draw := func(seconds, done, failed int64, left int, want string) {
		t.Helper()
		q := queue.Create("build")
		q.Counters = queue.Counters{Done: done, Ends: []queue.EndCount{
			{End: queue.Done, Count: done}, {End: queue.Failed, Count: failed - 1},
			{End: queue.Released, Count: 9}, {End: queue.Crashed, Count: 1}}}
		q.Tasks = []*queue.Task{{ID: "dead", State: queue.Dead}}
		for range left {
			q.Tasks = append(q.Tasks, &queue.Task{ID: "t", State: queue.Waiting})
		}

		out.Reset()
		p.draw(q, begin.Add(time.Duration(seconds)*time.Second))
		if got := out.String(); got != want {
			t.Errorf("after %d s: got %q, want %q", seconds, got, want)
		}
	}

	draw(0, 1000, 5, 30, "")
	draw(0, 1001, 5, 29, "\rbuild: 1 done, 0 failed, 29 left\r")
	draw(4, 1010, 6, 20, "\rbuild: 10 done, 1 failed, 20 left, 2.5 a second\r")
	draw(60, 1010, 6, 1, "\rbuild: 10 done, 1 failed, 1 left, 10.0 a minute\r")
}
