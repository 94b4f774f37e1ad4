package fileops

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// allow asks a question, allows it, and returns how it has ended.
func allow(t *testing.T, l *Ledger) queue.Ended {
	t.Helper()
	_, id, _ := queue.ParseQuestionName(ask(t, l, queue.Asker{Participant: "w"}))
	edit, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Answer(id, queue.Answer{End: queue.EndedAllowed, By: "ada",
			Shown: q.Task(id).Shown(q.ID).Hash()}, seen)
	})
	must(t, err)
	ended, _ := edit.After.EndedTask(id)
	return ended
}

func take(l *Ledger, e queue.Ended) error {
	_, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Take(e, seen)
	})
	return err
}

// An answer is found wherever its line is: pending, in the log, far from its end, or in a part. It
// is not found where the line is not: in a part that is elsewhere, or written there by hand (spec
// §47.6).
func TestTake(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{CommitRename, CommitLink} {
		l := queueLedger(t, Config{Commit: commit})
		first := allow(t, l)
		must(t, take(l, first))

		log := l.QueueAudit("ask")
		for i := range 300 { // more than is read at once
			_, err := l.EditQueue("ask", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
				after, _, err := q.Ask(queue.Question{ID: fmt.Sprint("n", i), Nonce: strings.Repeat("0", 32),
					Kind: queue.AskPermission, Spec: `{"text":"` + queue.Content(strings.Repeat("x", 300)) + `"}`,
					Asker: queue.Asker{Participant: fmt.Sprint("p", i)}, Expires: time.Minute}, seen)
				return after, err
			})
			must(t, err)
		}
		must(t, take(l, first))

		a, err := l.AuditedQueue("ask")
		must(t, err)
		_, err = a.Seal()
		must(t, err)
		must(t, take(l, first))
		second := allow(t, l)
		must(t, take(l, second))

		part := layout.PartOf(log, 1)
		must(t, os.Rename(part, part+".moved"))
		if err := take(l, first); !errors.Is(err, queue.ErrUnrecorded) {
			t.Errorf("%s: the part is elsewhere: %v", commit, err)
		}
		must(t, take(l, second))
		must(t, os.Rename(part+".moved", part))
		must(t, os.Chmod(part, 0))
		if err := take(l, first); os.Geteuid() != 0 && (err == nil || errors.Is(err, queue.ErrUnrecorded)) {
			t.Errorf("%s: the part cannot be read: %v", commit, err)
		}
		must(t, os.Chmod(part, 0o600))

		other := second
		other.At = other.At.Add(time.Second)
		if err := take(l, other); !errors.Is(err, queue.ErrNoTask) {
			t.Errorf("%s: it has not ended so: %v", commit, err)
		}
	}
}

// A yes that somebody writes into the file counts for nobody: not as it is, nor with a line beside
// the chain. With a line in the chain that stays in the log, also if the file is put back.
func TestTakeForged(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	_, id, _ := queue.ParseQuestionName(ask(t, l, queue.Asker{Participant: "w"}))
	honest := readText(t, l.QueuePath("ask"))

	q, err := l.ReadQueue("ask")
	must(t, err)
	seen := queue.Seen{Observation: observe.Observation{Now: queueTime}}
	forged, err := q.Answer(id, queue.Answer{End: queue.EndedAllowed, By: "ada",
		Shown: q.Task(id).Shown(q.ID).Hash()}, seen)
	must(t, err)
	yes, _ := forged.EndedTask(id)
	forged.Revision = q.Revision
	write := func(text string) { must(t, os.WriteFile(l.QueuePath("ask"), []byte(text), 0o600)) }
	parked := func() queue.TaskEnd {
		return l.SeeQueue("q", seen.Observation).Question(queue.QuestionName("ask", id)).End
	}

	write(forged.Encode())
	if err := take(l, yes); !errors.Is(err, queue.ErrUnrecorded) || parked() != queue.EndedWithdrawn {
		t.Errorf("in the file alone: %v, %s", err, parked())
	}
	beside := q.Audit.Append(audit.Entry{Verb: "answer", At: queueTime, Patch: forged.AuditPatch(q)})
	log := l.QueueAudit("ask")
	must(t, os.WriteFile(log, []byte(readText(t, log)+beside.Pending[len(beside.Pending)-1]+"\n"), 0o600))
	if parked() != queue.EndedWithdrawn {
		t.Error("a line that is not in the chain counts")
	}

	chained := forged
	chained.Audit = beside
	write(chained.Encode())
	must(t, take(l, yes))
	write(honest)
	ask(t, l, queue.Asker{Participant: "other"})
	if text := readText(t, log); !strings.Contains(text, `"verb":"taken"`) || !strings.Contains(text, `"by":"ada"`) {
		t.Errorf("the record does not tell of it:\n%s", text)
	}
}
