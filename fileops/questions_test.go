package fileops

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// ask asks a question that is open for a minute, and returns its name.
func ask(t *testing.T, l *Ledger, a queue.Asker) string {
	t.Helper()
	id := ""
	_, err := l.EditQueue("ask", OrCreate,
		func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
			after, id, err = q.Ask(queue.Question{ID: fmt.Sprint("q", q.LastSeq+1), Nonce: strings.Repeat("0", 32),
				Kind: queue.AskPermission, Spec: "{}", Asker: a, Expires: time.Minute}, seen)
			return after, err
		})
	must(t, err)
	return queue.QuestionName("ask", id)
}

// A question is seen as an edit of its queue would leave it; one that is nowhere as withdrawn, and
// one that cannot be read not at all.
func TestQuestionStates(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	state := func(name string, after time.Duration) queue.QuestionState {
		return l.SeeQueue("q", observe.Observation{Now: queueTime.Add(after)}).Question(name)
	}
	check := func(name string, after time.Duration, known bool, want queue.TaskEnd) {
		t.Helper()
		if got := state(name, after); got.Known != known || got.End != want {
			t.Errorf("%s after %v is %+v, want %t, %q", name, after, got, known, want)
		}
	}

	check("ask/q1", 0, true, queue.EndedWithdrawn)
	open := ask(t, l, queue.Asker{Participant: "w"})
	check(open, 0, true, "")
	check(open, time.Hour, true, queue.EndedTimedOut)
	check("ask/q7", 0, true, queue.EndedWithdrawn)
	check("q/q1", 0, false, "")

	parked := ask(t, l, queue.Asker{Participant: "w", Queue: "q", Task: "t", Epoch: 1})
	check(parked, 0, true, queue.EndedWithdrawn)

	_, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Answer("q1", queue.Answer{End: queue.EndedDenied, Text: "no", By: "ada",
			Shown: q.Task("q1").Shown(q.ID).Hash()}, seen)
	})
	must(t, err)
	check(open, time.Hour, true, queue.EndedDenied)
	if got := state(open, 0).Answer; got != "no" {
		t.Errorf("the answer is %q", got)
	}

	must(t, os.WriteFile(l.QueuePath("ask"), []byte(`{"queueId": "ask", "policy": {"maxAttempts": 1,
		"rememberForMs": 1}, "lastSeq": 1, "tasks": [{"taskId": "a", "seq": 1, "spec": {},
		"enqueuedAt": "2026-01-20T10:30:00Z"}]}`), 0o600))
	check("ask/a", 0, true, queue.EndedWithdrawn)
	must(t, os.WriteFile(l.QueuePath("ask"), []byte("{"), 0o600))
	check(open, 0, false, "")
}

// An edit reads another queue once, however many questions and tasks it looks at there.
func TestQuestionsAreReadOnce(t *testing.T) {
	t.Parallel()
	opened := 0
	p := &simfs.Process{Disk: simfs.New(), Trace: func(call string) {
		if strings.HasPrefix(call, "open ") {
			opened++
		}
	}}
	l, err := Create(simLedger, Config{}, Options{FS: p, Observe: func() observe.Observation {
		return observe.Observation{Now: queueTime}
	}})
	must(t, err)

	edit := func(id string, verb func(queue.Queue, queue.Seen) (queue.Queue, error)) int {
		opened = 0
		_, err := l.EditQueue(id, OrCreate, verb)
		must(t, err)
		return opened
	}
	few := 0
	for i := range 20 {
		id := fmt.Sprint("t", i)
		enqueue(t, l, "{}", id)
		edit("q", func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			after, _, err := q.Claim(queue.Claimer{Participant: id, Deadline: time.Hour}, id, seen)
			return after, err
		})
		name := ask(t, l, queue.Asker{Participant: "w", Queue: "q", Task: id, Epoch: int64(i + 1)})
		edit("q", func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Settle(queue.Settlement{Task: id, Epoch: int64(i + 1),
				Outcome: queue.Outcome{End: queue.Asked, Question: name}}, seen)
		})
		if n := edit("q", queue.Queue.Pass) + edit("ask", queue.Queue.Pass); i == 0 {
			few = n
		} else if n != few {
			t.Fatalf("with %d questions two passes open %d files, and %d with one", i+1, n, few)
		}
	}
}

// An edit that looks at many large queues keeps none of them: whoever can write the ledger could
// otherwise have it take any amount of memory.
func TestLargeOthers(t *testing.T) {
	l := queueLedger(t, Config{})
	const queues, size = 8, 4 << 20
	must(t, os.MkdirAll(l.QueuesDir(), 0o700))
	for i := range queues {
		id := fmt.Sprint("q", i)
		text := fmt.Sprintf(`{"queueId": %q, "policy": {"maxAttempts": 1, "rememberForMs": 1}, "tasks": [],
			"more": %q}`, id, strings.Repeat("a", size))
		must(t, os.WriteFile(l.QueuePath(id), []byte(text), 0o600))
	}

	seen := l.SeeQueue("ask", observe.Observation{Now: queueTime})
	gone, before := 0, heap()
	for i := range queues {
		if seen.Parked(fmt.Sprint("q", i), "t", 1, "ask/q1") {
			gone++
		}
	}
	if kept := int64(heap()) - int64(before); gone != queues || kept > size {
		t.Errorf("%d of %d are gone, and %d bytes are kept", gone, queues, kept)
	}
	runtime.KeepAlive(seen)
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
