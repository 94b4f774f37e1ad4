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

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// What was not synced may be lost in the middle, and what follows it may be there: the lines are
// pending, and the next edit writes them again, after the last line that was synced.
func TestAuditHoles(t *testing.T) {
	t.Parallel()
	for _, junk := range []string{"\x00", "\x00\n\x00", "x\n"} {
		l := queueLedger(t, Config{})
		for i := range manyPending + 5 {
			enqueue(t, l, "{}", fmt.Sprint("t", i))
		}
		data, _, err := l.fs.ReadFile(l.QueueAudit("q"))
		must(t, err)
		lines := strings.SplitAfter(string(data), "\n")
		at := len(strings.Join(lines[:manyPending+1], ""))
		copy(data[at+20:], strings.Repeat(junk, 200))
		must(t, l.fs.WriteOver(l.QueueAudit("q"), writeOf(data)))

		enqueue(t, l, "{}", "next")
		if lines, found, err := recordOf(l); err != nil || found != nil || len(lines) != manyPending+6 {
			t.Errorf("%q: %d lines, %v, %v", junk, len(lines), found, err)
		}
	}
}

// If the log cannot be written, lines wait in the queue. When there are too many, an edit is
// refused, except a halt; when the log can be written again nothing is missing.
func TestAuditFullDisk(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "t0")
	log := l.QueueAudit("q")
	must(t, os.Rename(log, log+".away"))
	must(t, os.Mkdir(log, 0o700))
	n := 0
	for ; ; n++ {
		_, err := l.EditQueue("q", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Enqueue([]queue.New{{ID: fmt.Sprint("w", n), Spec: "{}"}}, seen)
		})
		if errors.Is(err, audit.ErrPending) {
			break
		}
		must(t, err)
		if n > 100 {
			t.Fatal("nothing is refused")
		}
	}
	if n != audit.MostPending-1 {
		t.Errorf("%d edits were made without a log", n)
	}
	q, err := l.ReadQueue("q")
	must(t, err)
	if len(q.Audit.Pending) != audit.MostPending {
		t.Errorf("%d lines are pending", len(q.Audit.Pending))
	}

	halted := editQueue(t, l, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Control(queue.Control{By: "ada", Halt: &queue.HaltRequest{Reason: "full"}}, seen)
	})
	if len(halted.Halts) != 1 {
		t.Error("it is not halted")
	}
	if len(l.Leftovers()) == 0 {
		t.Error("nobody was told")
	}

	must(t, os.Remove(log))
	must(t, os.Rename(log+".away", log))
	enqueue(t, l, "{}", "last")
	lines, found, err := recordOf(l)
	if err != nil || found != nil || int64(len(lines)) != halted.Revision+1 {
		t.Errorf("%d lines, %v, %v", len(lines), found, err)
	}
}

// With as many lines pending as may be, a no is made, and a yes is not.
func TestAuditFullDiskNo(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	var ids []string
	for range 3 {
		_, id, _ := queue.ParseQuestionName(ask(t, l, queue.Asker{Participant: "w"}))
		ids = append(ids, id)
	}
	log := l.QueueAudit("ask")
	must(t, os.Rename(log, log+".away"))
	must(t, os.Mkdir(log, 0o700))
	answer := func(id string, end queue.TaskEnd) error {
		_, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Answer(id, queue.Answer{End: end, By: "ada", Shown: q.Task(id).Shown(q.ID).Hash()}, seen)
		})
		return err
	}
	for n := 0; ; n++ {
		_, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Control(queue.Control{By: "ada", Close: new(n%2 == 0)}, seen)
		})
		if errors.Is(err, audit.ErrPending) {
			break
		}
		must(t, err)
	}

	if err := answer(ids[0], queue.EndedAllowed); !errors.Is(err, audit.ErrPending) {
		t.Errorf("it is allowed: %v", err)
	}
	must(t, answer(ids[1], queue.EndedDenied))
	_, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Withdraw(ids[2], queue.Asker{Participant: "w"}, seen)
	})
	must(t, err)
}

// A file that was set back gets a line that says so, and the record goes on after the lines of the
// log.
func TestAuditRestored(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		l := queueLedger(t, Config{})
		enqueue(t, l, "{}", "a")
		enqueue(t, l, "{}", "b")
		older, _, err := l.fs.ReadFile(l.QueuePath("q"))
		must(t, err)
		for i := range 20 {
			enqueue(t, l, "{}", fmt.Sprint("c", i))
		}
		if sealed {
			_, err := sealQueue(l)
			must(t, err)
		}

		must(t, l.fs.WriteOver(l.QueuePath("q"), writeOf(older)))
		if _, found, _ := recordOf(l); len(found) == 0 {
			t.Error("nothing is found before the next edit")
		}
		enqueue(t, l, "{}", "d")
		lines, found, err := recordOf(l)
		verbs := verbsOf(lines)
		want := []string{"restored", "restore", "enqueue"}
		if err != nil || len(found) != 1 || found[0].How != audit.Restored ||
			!slices.Equal(verbs[len(verbs)-3:], want) {

			t.Errorf("sealed: %v: %v, %v, %q", sealed, found, err, verbs)
		}
	}
}

// An edit by a program that keeps no record is told of by the next edit that does, and so is a
// queue that had no record.
func TestAuditUnaudited(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "a")
	for _, change := range []func(q *queue.Queue){
		func(q *queue.Queue) { q.Revision++ },
		func(q *queue.Queue) { q.Audit = audit.Chain{} },
	} {
		q, err := l.ReadQueue("q")
		must(t, err)
		change(&q)
		q.Closed = false
		must(t, l.fs.WriteOver(l.QueuePath("q"), writeOf([]byte(q.Encode()))))
		enqueue(t, l, "{}", fmt.Sprint("t", q.Revision))
	}
	lines, found, err := recordOf(l)
	want := []string{"enqueue", "unaudited", "enqueue", "restored", "restore", "enqueue"}
	if err != nil || !isUnaudited(found, 2) || !slices.Equal(verbsOf(lines), want) {
		t.Errorf("%v, %v, %q", found, err, verbsOf(lines))
	}

	// A queue from before there was a record.
	q := queue.Create("q")
	q.Revision = 7
	l = queueLedger(t, Config{})
	must(t, l.fs.EnsureDir(l.QueuesDir()))
	must(t, l.fs.WriteOver(l.QueuePath("q"), writeOf([]byte(q.Encode()))))
	enqueue(t, l, "{}", "a")
	lines, found, err = recordOf(l)
	if err != nil || found != nil || !slices.Equal(verbsOf(lines), []string{"began", "enqueue"}) {
		t.Errorf("%v, %v, %q", found, err, verbsOf(lines))
	}
}

// isUnaudited reports whether all that is found is that line seq says that an edit before it has
// none.
func isUnaudited(found []audit.Finding, seq int64) bool {
	return len(found) == 1 && found[0].Seq == seq && found[0].How == audit.Unaudited
}

// A heartbeat has no line, and after such an edit it does not hide it from the next one that has.
func TestAuditUnauditedBeforeHeartbeat(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Observe: func() observe.Observation {
		return observe.Observation{Now: queueTime}
	}})
	edit := func(verb Verb[protocol.Operation]) {
		t.Helper()
		_, err := l.EditOperation("o", OrCreate, verb)
		must(t, err)
	}
	push := func(call string) {
		t.Helper()
		edit(func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			if op.Revision == 0 {
				op = protocol.Create("o", "", 0, time.Hour)
			}
			return op.Push(protocol.Push{Participant: "p", Call: call}, seen)
		})
	}

	push("a")
	object, err := l.AuditedOperation("o")
	must(t, err)
	must(t, object.Switch(true))
	op, _, err := l.ReadOperation("o")
	must(t, err)
	op.Revision++
	writeFile(t, l.OperationPath("o"), op.Encode())
	edit(func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
		return op.Heartbeat(protocol.Actor{Participant: "p"}, observe.Report{}, seen)
	})
	push("b")

	v := &audit.Verifier{}
	_, err = object.Verify(v, Feed)
	if err != nil || len(v.Marks) != 2 || !isUnaudited(v.Findings, v.Marks[1].Seq) ||
		len(v.Broken()) > 0 {

		t.Errorf("%v, %v, %v", err, v.Findings, v.Marks)
	}
}

func writeOf(data []byte) func(disk.File) error {
	return func(f disk.File) error {
		_, err := f.Write(data)
		return err
	}
}

func verbsOf(lines []audit.Line) (all []string) {
	for _, l := range lines {
		all = append(all, l.Verb)
	}
	return all
}

// Parts of a log are read one after the other, and each begins with the whole queue.
func TestAuditSeal(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		l := queueLedger(t, Config{Commit: commit})
		for i := range 3 {
			enqueue(t, l, "{}", fmt.Sprint("a", i))
			path, err := sealQueue(l)
			if err != nil || path != layout.PartOf(l.QueueAudit("q"), i+1) {
				t.Errorf("%s: %q, %v", commit, path, err)
			}
		}
		enqueue(t, l, "{}", "b")

		lines, found, err := recordOf(l)
		want := []string{"enqueue", "sealed", "enqueue", "sealed", "enqueue", "sealed", "enqueue"}
		if err != nil || found != nil || !slices.Equal(verbsOf(lines), want) {
			t.Errorf("%s: %v, %v, %q", commit, found, err, verbsOf(lines))
		}
		q, err := l.ReadQueue("q")
		must(t, err)
		must(t, l.fs.Remove(layout.PartOf(l.QueueAudit("q"), 1)))
		object, err := l.AuditedQueue("q")
		must(t, err)
		v := &audit.Verifier{State: audit.State{Shape: object.Shape}, Known: []string{lines[1].Hash}}
		end, err := object.Read(func(texts []string) {
			for _, text := range texts {
				v.Line(audit.Parse(text))
			}
		})
		must(t, err)
		v.End(end.Chain, end.Text)
		if v.Findings != nil || !v.State.Known || v.First != 2 || q.Audit.Seq != 7 {
			t.Errorf("%s: without the first part, with a known head of the next: %v", commit, v.Findings)
		}
	}
}

func sealQueue(l *Ledger) (string, error) {
	object, err := l.AuditedQueue("q")
	if err != nil {
		return "", err
	}
	return object.Seal()
}

// A log that has become long is sealed by an edit, also if one was killed that had sealed it. The
// parts may be moved elsewhere, and do not get a number again.
func TestAuditSealsItself(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		l := queueLedger(t, Config{Commit: commit})
		l.longPart = 8 << 10
		for i := range 8 * manyPending {
			enqueue(t, l, "{}", fmt.Sprint("a", i))
		}
		log := l.QueueAudit("q")
		parts, err := queues.record.of(l, "q").Parts()
		_, found, readErr := recordOf(l)
		if err != nil || readErr != nil || found != nil || len(parts) < 2 {
			t.Fatalf("%s: %d parts, %v, %v, %v", commit, len(parts), err, readErr, found)
		}
		for _, n := range parts {
			info, err := os.Stat(layout.PartOf(log, n))
			if must(t, err); info.Size() > l.longPart+largePending+8<<10 && n == 1 {
				t.Errorf("%s: part %d has %d bytes", commit, n, info.Size())
			}
			must(t, os.Rename(layout.PartOf(log, n), filepath.Join(t.TempDir(), "away")))
		}

		object, err := l.AuditedQueue("q")
		must(t, err)
		v := &audit.Verifier{}
		_, err = object.Verify(v, Feed)
		if err != nil || v.Findings != nil || !v.Moved || !v.State.Known {
			t.Errorf("%s: without the parts: %+v, %v", commit, v.Findings, err)
		}
		path, err := sealQueue(l)
		if want := layout.PartOf(log, parts[len(parts)-1]+1); err != nil || path != want {
			t.Errorf("%s: the next part is %s, want %s; %v", commit, path, want, err)
		}

		must(t, os.Rename(log, layout.PartOf(log, parts[len(parts)-1]+2))) // as if it was killed then
		q, err := l.ReadQueue("q")
		must(t, err)
		enqueue(t, l, "{}", "b")
		lines, found, err := recordOf(l)
		if last := verbsOf(lines[len(lines)-2:]); err != nil || found != nil || last[0] != "sealed" ||
			last[1] != "enqueue" {
			t.Errorf("%s: after a kill: %q, %v, %v", commit, last, found, err)
		}
		after, err := l.ReadQueue("q")
		must(t, err)
		if after.Audit.Sealed.Part != int64(parts[len(parts)-1]+2) || after.Audit.Sealed.Head != q.Audit.Head {
			t.Errorf("%s: %+v", commit, after.Audit.Sealed)
		}
	}
}

// A log whose first line has a large object is not sealed at each edit.
func TestAuditSealsLargeObject(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	l.longPart = 8 << 10
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprint("a", i))
	}
	enqueue(t, l, "{}", many...) // a line of some 60 kB
	for i := range 8 * manyPending {
		enqueue(t, l, "{}", fmt.Sprint("b", i))
	}
	if parts, err := queues.record.of(l, "q").Parts(); err != nil || len(parts) > 0 {
		t.Errorf("%d parts, %v", len(parts), err)
	}
}
