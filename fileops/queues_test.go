package fileops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

var queueTime = time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)

// queueLedger returns a ledger whose edits are observed at queueTime.
func queueLedger(t *testing.T, c Config) *Ledger {
	t.Helper()
	return testLedger(t, c, Options{Observe: func() observe.Observation {
		return observe.Observation{Now: queueTime}
	}})
}

// enqueue adds tasks with these ids, whose spec is that text, to the queue q.
func enqueue(t *testing.T, l *Ledger, spec queue.Content, ids ...string) {
	t.Helper()
	var batch []queue.New
	for _, id := range ids {
		batch = append(batch, queue.New{ID: id, Spec: spec})
	}
	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Enqueue(batch, seen)
	})
}

func editQueue(t *testing.T, l *Ledger,
	verb func(queue.Queue, queue.Seen) (queue.Queue, error)) queue.Queue {
	t.Helper()
	edit, err := l.EditQueue("q", OrCreate, verb)
	must(t, err)
	return edit.After
}

// doTask claims the task id and settles it.
func doTask(t *testing.T, l *Ledger, id, report string) {
	t.Helper()
	var claimed *queue.Task
	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
		after, claimed, err = q.Claim(queue.Claimer{Participant: "w", Deadline: time.Hour}, id, seen)
		return after, err
	})
	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Settle(queue.Settlement{Task: id, Epoch: claimed.Claim.Epoch, Report: report,
			Outcome: queue.Outcome{End: queue.Done}}, seen)
	})
}

// long is a spec that does not fit into a queue.
var long = queue.Content(`{"text":"` + strings.Repeat("x", 1000) + `"}`)

// A spec that is too long for the queue is in a file, which is checked when it is read, and
// replaced if a killed edit has left another one.
func TestQueueSpecs(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	path := l.SpecPath("q", "a", digits(long.Hash()))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte("torn"), 0o600))
	enqueue(t, l, long, "a")
	enqueue(t, l, `{"argv":["true"]}`, "b")

	q, err := l.ReadQueue("q")
	must(t, err)
	for id, want := range map[string]queue.Content{"a": long, "b": `{"argv":["true"]}`} {
		if got, err := l.ReadSpec("q", q.Task(id)); got != want || err != nil {
			t.Errorf("the spec of %s: %.20q, %v", id, got, err)
		}
	}

	must(t, os.WriteFile(path, []byte("other\n"), 0o600))
	if _, err := l.ReadSpec("q", q.Task("a")); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("a spec that was changed: %v", err)
	}
	must(t, os.Remove(path))
	if _, err := l.ReadSpec("q", q.Task("a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a spec that is gone: %v", err)
	}
}

// Tasks that ended long ago are known, although the queue has only the newest.
func TestQueueRemembers(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		t.Run(commit, func(t *testing.T) {
			t.Parallel()
			l := queueLedger(t, Config{Commit: commit})
			var ids []string
			for i := range 67 {
				ids = append(ids, fmt.Sprintf("t%d", i))
			}
			enqueue(t, l, `{}`, ids...)
			editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Cancel(ids[:66], "ada", "", seen)
			})
			q := editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Cancel(ids[66:], "ada", "", seen)
			})
			if len(q.Ended) != 33 {
				t.Errorf("%d ended tasks are in the queue, want 33", len(q.Ended))
			}

			seen := l.ObserveQueue(q, observe.Observation{Now: queueTime})
			for _, id := range ids {
				_, there := q.EndedTask(id)
				if ended, past := seen.Past(id); there == past || past && ended.End != queue.EndedCancelled {
					t.Fatalf("%s is in the queue: %v, past: %v, %s", id, there, past, ended.End)
				}
			}
			if ended, ok := l.PastTask("q", "t0"); !ok || ended.End != queue.EndedCancelled {
				t.Errorf("t0 ended as %+v", ended)
			}

			lately := func(since time.Time, most int) (all []string) {
				for _, e := range l.Lately(q, since, most).Ended {
					all = append(all, e.ID)
				}
				return all
			}
			if got := lately(queueTime, 1000); !slices.Equal(got, ids) {
				t.Errorf("all that have ended: %q", got)
			}
			if got := lately(queueTime, 40); !slices.Equal(got, ids[len(ids)-40:]) {
				t.Errorf("the newest 40: %q", got)
			}
			if got := lately(queueTime.Add(1), 1000); !slices.Equal(got, ids[len(ids)-34:]) {
				t.Errorf("none since then, so those in the queue, and the one before: %q", got)
			}

			// A killed edit has remembered two that the queue still names.
			ended := q.Ended
			q.Ended = append(l.Lately(q, queueTime, len(ended)+2).Ended[:2], ended...)
			if got := lately(queueTime, 1000); !slices.Equal(got, ids) {
				t.Errorf("after a killed edit: %q", got)
			}
			q.Ended = ended

			// They are forgotten once they are old, all but one that a task waits for.
			must(t, l.TidyQueue("q", queueTime.Add(time.Hour)))
			if _, known := l.SeeQueue("q", seen.Observation).Past("t1"); !known {
				t.Error("t1 is forgotten after an hour")
			}
			_, err := l.EditQueue("q", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				return q.Enqueue([]queue.New{{ID: "waits", Spec: "{}", After: []string{"t1"}}}, seen)
			})
			must(t, err)
			must(t, l.TidyQueue("q", queueTime.Add(8*24*time.Hour)))
			past := l.SeeQueue("q", seen.Observation).Past
			if _, known := past("t1"); !known {
				t.Error("t1 is forgotten, and a task waits for it")
			}
			if _, known := past("t2"); known {
				t.Error("t2 is known after eight days")
			}
		})
	}
}

// What nobody needs any more is removed, and nothing else.
func TestTidyQueue(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	must(t, l.TidyQueue("q", queueTime)) // there is none
	enqueue(t, l, long, "a", "b")
	doTask(t, l, "a", "it works")
	log, err := attemptLog(l)
	must(t, err)
	must(t, os.WriteFile(log, []byte("it\nworks\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(l.QueueTasks("q"), "stranger"), nil, 0o600))
	temp := layout.TempOf(l.AttemptReport("q", "b", 2))
	must(t, os.WriteFile(temp, nil, 0o600))

	names := func() (names []string) {
		files, err := l.TaskFiles("q")
		must(t, err)
		for _, f := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(f.Path), digits(long.Hash())+".json"))
		}
		slices.Sort(names)
		return names
	}
	if got, want := fmt.Sprint(names()), "[a~ a~1.json a~1.log b~]"; got != want {
		t.Fatalf("files of tasks: %s, want %s", got, want)
	}
	of, err := l.AttemptFiles("q")
	if err != nil || len(of) != 1 || len(of["a"]) != 2 {
		t.Errorf("files of attempts: %v, %v", of, err)
	}
	if text, err := l.AttemptEnd("q", "a", 1, 1); string(text) != "works\n" || err != nil {
		t.Errorf("the end of the log: %q, %v", text, err)
	}

	must(t, l.TidyQueue("q", time.Now().Add(30*time.Minute)))
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a temporary file: %v", err)
	}
	if got := len(names()); got != 4 {
		t.Errorf("%d files after half an hour, want 4", got)
	}
	must(t, l.TidyQueue("q", time.Now().Add(2*time.Hour)))
	if got, want := fmt.Sprint(names()), "[a~1.json a~1.log b~]"; got != want {
		t.Errorf("after two hours: %s, want %s", got, want)
	}
	must(t, l.TidyQueue("q", time.Now().Add(8*24*time.Hour)))
	if got, want := fmt.Sprint(names()), "[b~]"; got != want {
		t.Errorf("after eight days: %s, want %s", got, want)
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log: %v", err)
	}
	if _, err := os.Stat(filepath.Join(l.QueueTasks("q"), "stranger")); err != nil {
		t.Error(err)
	}
}

// Queues are listed, read and observed; a queue that was removed is none.
func TestReadQueues(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	if ids, err := l.QueueIDs(); len(ids) != 0 || err != nil {
		t.Errorf("queues of an empty ledger: %q, %v", ids, err)
	}
	for _, err := range []error{
		func() error { _, err := l.ReadQueue("../x"); return err }(),
		func() error { _, err := l.TaskFiles("x."); return err }(),
		func() error {
			_, err := l.EditQueue("", OrCreate, queue.Queue.Pass)
			return err
		}(),
	} {
		if !errors.Is(err, queue.ErrBadQueueID) {
			t.Errorf("a bad id: %v", err)
		}
	}
	if _, err := l.EditQueue("q", Existing, queue.Queue.Pass); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("an edit of no queue: %v", err)
	}

	enqueue(t, l, "{}", "a")
	content, err := l.Content(l.QueuePath("q"), layout.QueueFile, "q")
	if err != nil || content.Queue == nil || content.Queue.Task("a") == nil {
		t.Errorf("content: %+v, %v", content, err)
	}
	notifier := l.NotifyQueue("q")
	defer notifier.Close()
	notifier.Arm()
	doTask(t, l, "a", "")
	<-notifier.C()

	editQueue(t, l, queue.Queue.Remove)
	if _, err := l.ReadQueue("q"); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("a queue that was removed: %v", err)
	}
	if ids, err := l.QueueIDs(); fmt.Sprint(ids) != "[q]" || err != nil {
		t.Errorf("queues: %q, %v", ids, err)
	}

	must(t, os.WriteFile(layout.TempOf(l.QueuePath("q")), nil, 0o600))
	must(t, os.WriteFile(l.QueueLock("gone"), nil, 0o600))
	must(t, l.Sweep())
	left, err := filepath.Glob(filepath.Join(l.QueuesDir(), "*"))
	must(t, err)
	want := []string{l.QueueAudit("q"), l.QueuePath("q"), l.QueueLock("q"), l.TasksDir()}
	if !slices.Equal(left, want) {
		t.Errorf("after a sweep: %q, want %q", left, want)
	}
}

// What is seen of a call decides about a claim that has no process to look at.
func TestCallStates(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	push := func(call string) {
		_, err := l.EditOperation("op", OrCreate,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				if op.ID == "" {
					op = protocol.Create("op", "", 0, 0)
				}
				return op.Push(protocol.Push{Participant: call, Call: call}, seen)
			})
		must(t, err)
	}
	state := func(call string, after time.Duration) queue.CallState {
		seen := observe.Observation{Now: queueTime.Add(after), Watch: observe.Awake}
		return l.SeeQueue("q", seen).Call("op", call)
	}

	if got := state("a", 0); got != queue.CallUnseen {
		t.Errorf("a call of no operation is %q", got)
	}
	push("a")
	push("b")
	for _, c := range []struct {
		call  string
		after time.Duration
		want  queue.CallState
	}{{"a", 0, queue.CallOpen}, {"c", 0, queue.CallOver}, {"a", time.Minute, queue.CallCrashed}} {
		if got := state(c.call, c.after); got != c.want {
			t.Errorf("call %s after %v is %q, want %q", c.call, c.after, got, c.want)
		}
	}
}

// An attempt that completes leaves no operation; one that fails is in the archive.
func TestFinishOperation(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		l := queueLedger(t, Config{Commit: commit})
		for id, fails := range map[string]bool{"works": false, "fails": true} {
			_, err := l.EditOperation(id, OrCreate,
				func(_ protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
					op := protocol.Create(id, "", 0, 0)
					return op.Push(protocol.Push{Participant: "w", Call: "a", Tmp: true}, seen)
				})
			must(t, err)
			_, err = l.FinishOperation(id,
				func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
					return op.Pop(protocol.Pop{Call: "a", Fail: fails}, seen)
				})
			must(t, err)

			_, archived, err := l.ReadOperation(id)
			kept := fails || commit == "link"
			if kept != (err == nil) || archived != kept {
				t.Errorf("%s, failed: %v: archived %v, %v", commit, fails, archived, err)
			}
			if l.HasTmp(id, "", "a") {
				t.Errorf("%s, failed: %v: its temporary directory is left", commit, fails)
			}
			if _, err := os.Stat(l.OperationLock(id)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s, failed: %v: its lock is left: %v", commit, fails, err)
			}
		}

		_, err := l.FinishOperation("gone",
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				return op, nil
			})
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: an operation that is gone: %v", commit, err)
		}
	}
}

// Where a directory cannot be made or read, every call says so, and the queue stays as it was.
func TestQueuesRefused(t *testing.T) {
	t.Parallel()
	block := func(path string) {
		must(t, os.RemoveAll(path))
		must(t, os.WriteFile(path, nil, 0o600))
	}
	add := func(l *Ledger, spec queue.Content) error {
		_, err := l.EditQueue("q", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Enqueue([]queue.New{{ID: "b", Spec: spec}}, seen)
		})
		return err
	}

	l := queueLedger(t, Config{})
	block(l.QueuesDir())
	_, err := l.QueueIDs()
	for _, err := range []error{err, add(l, "{}"), l.TidyQueue("q", queueTime)} {
		if err == nil {
			t.Error("queues/ is a file, which is no error")
		}
	}

	l = queueLedger(t, Config{})
	enqueue(t, l, "{}", "a")
	before, err := l.ReadQueue("q")
	must(t, err)
	block(l.TasksDir())
	_, err = attemptLog(l)
	_, filesErr := l.TaskFiles("q")
	for i, err := range []error{err, filesErr, add(l, long), l.TidyQueue("q", queueTime)} {
		if err == nil {
			t.Errorf("%d: queues/tasks is a file, which is no error", i)
		}
	}
	if after, err := l.ReadQueue("q"); err != nil || after.Revision != before.Revision {
		t.Errorf("after refused edits: revision %d, %v", after.Revision, err)
	}

	must(t, os.Remove(l.TasksDir()))
	must(t, os.MkdirAll(filepath.Join(l.AttemptLog("q", "a", 1), "sub"), 0o700))
	if _, err := attemptLog(l); err == nil {
		t.Error("a log is a directory, which is no error")
	}
}

// attemptLog makes the log of the first attempt at the task a.
func attemptLog(l *Ledger) (path string, err error) {
	log, err := l.NewAttemptLog("q")
	if err != nil {
		return "", err
	}
	defer log.Close()
	return log.Name("a", 1)
}

// The operation of an attempt that has completed is gone; then its calls are over when the queue
// does not have its claim any more (spec §35.2).
func TestCallsOfAttempts(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "t", "u")
	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		after, _, err := q.Claim(queue.Claimer{Participant: "w", Deadline: time.Hour}, "t", seen)
		return after, err
	})

	check := func(op string, want queue.CallState) {
		t.Helper()
		seen := observe.Observation{Now: queueTime}
		if got := l.SeeQueue("mail.a", seen).Call(op, "attempt"); got != want {
			t.Errorf("a call of %s is %q, want %q", op, got, want)
		}
	}
	check("q.t.1", queue.CallUnseen) // it may not have been pushed yet
	for _, op := range []string{"q.t.2", "none.t.1", "q", "q.t.x"} {
		check(op, queue.CallUnseen)
	}
	check("q.u.1", queue.CallOver)

	editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Settle(queue.Settlement{Task: "t", Epoch: 1, Outcome: queue.Outcome{End: queue.Done}}, seen)
	})
	check("q.t.1", queue.CallOver)
	check("q.t.1-again", queue.CallOver)
}

// How files were at the start of an attempt is kept beside its log and report.
func TestAttemptStart(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "t")
	must(t, l.WriteAttemptStart("q", "t", 3, "how it was"))
	text, err := os.ReadFile(l.AttemptStart("q", "t", 3))
	if string(text) != "how it was" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if err := l.WriteAttemptStart("q", "t", 3, "anew"); err == nil {
		t.Error("it was written twice")
	}

	files, err := l.TaskFiles("q")
	if len(files) != 1 || files[0].Log || files[0].Report() || err != nil {
		t.Errorf("got %+v, %v", files, err)
	}
}
