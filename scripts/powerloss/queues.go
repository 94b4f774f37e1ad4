package powerloss

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// queues records each queue, the tasks of it that have ended, and the reports. The spec of each
// task that has not ended must be there.
func (s Survey) queues(l *fileops.Ledger, base string) error {
	ids, err := l.QueueIDs()
	for _, id := range ids {
		q, readErr := l.ReadQueue(id)
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}

		s.set(base, "queue", id, q.Revision, []byte(q.Encode()))
		for _, t := range q.Tasks {
			if _, readErr := l.ReadSpec(id, t); readErr != nil {
				err = errors.Join(err, fmt.Errorf("queue %s: the spec of %s: %w", id, t.ID, readErr))
			}
		}
		err = errors.Join(err, s.reports(l, base, id), s.ended(l, q), wholeRecord(l, q))
	}
	return err
}

// wholeRecord returns an error unless the record of q is whole: no line is lost or there twice, and
// the file is what they say.
func wholeRecord(l *fileops.Ledger, q queue.Queue) error {
	object, err := l.AuditedQueue(q.ID)
	if err != nil {
		return err
	}
	v := &audit.Verifier{}
	_, err = object.Verify(v, fileops.Feed)
	if err == nil && (len(v.Findings) > 0 || len(v.Marks) > 0) {
		err = fmt.Errorf("the record of queue %s: %v, %v", q.ID, v.Findings, v.Marks)
	}
	return err
}

func (s Survey) reports(l *fileops.Ledger, base, id string) error {
	files, err := l.TaskFiles(id)
	for _, f := range files {
		if !f.Report() {
			continue
		}
		data, readErr := os.ReadFile(f.Path)
		err = errors.Join(err, readErr)
		s.set(base, "report", fmt.Sprintf("%s of %s, %d", id, f.Task, f.Epoch), f.Epoch, data)
	}
	return err
}

// ended records each task that has ended, whether the file of the queue has it or the one beside
// that. As many must have ended as are counted. A line without an end is of an edit that was never
// committed.
func (s Survey) ended(l *fileops.Ledger, q queue.Queue) error {
	text, err := os.ReadFile(filepath.Join(l.Dir(), "queues", q.ID+".ended.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}

	known := make(map[string]bool)
	past := l.SeeQueue(q.ID, observe.Observation{}).Past
	lines := strings.Split(string(text), "\n")
	for i, line := range lines[:len(lines)-1] { // what follows the last newline is torn
		if line == "" {
			continue // an appender that holds a lease begins with a newline
		}
		e, lineErr := queue.DecodeRemembered(line)
		if lineErr != nil {
			err = errors.Join(err, fmt.Errorf("queue %s: line %d of the ended tasks: %w", q.ID, i+1, lineErr))
			continue
		}
		if ended, ok := past(e.ID); !ok || ended.End != e.End {
			err = errors.Join(err, fmt.Errorf("queue %s: a reader finds no end of %s", q.ID, e.ID))
		}
		known[e.ID] = true
		s["ended task of "+q.ID+": "+e.ID] = Version{1, string(e.End)}
	}
	for _, e := range q.Ended {
		known[e.ID] = true
		s["ended task of "+q.ID+": "+e.ID] = Version{1, string(e.End)}
	}

	c := q.Counters
	if n := c.Done + c.Cancelled + c.Expired; int64(len(known)) != n {
		err = errors.Join(err, fmt.Errorf("queue %s: %d tasks have ended, %d are known", q.ID, n, len(known)))
	}
	return err
}

// useQueues has the dead return their tasks in all queues, adds a task to each, and does it.
func useQueues(l *fileops.Ledger, seen observe.Observation) error {
	ids, err := l.QueueIDs()
	for _, id := range ids {
		var epoch int64
		who := queue.Claimer{Participant: "next", Deadline: 1}
		for _, verb := range []func(queue.Queue, queue.Seen) (queue.Queue, error){
			func(q queue.Queue, with queue.Seen) (queue.Queue, error) {
				return q.Enqueue([]queue.New{{ID: nextID, Priority: -1, Spec: nextSpec}}, with)
			},
			func(q queue.Queue, with queue.Seen) (queue.Queue, error) {
				after, t, err := q.Claim(who, nextID, with)
				if err == nil {
					epoch = t.Claim.Epoch
				}
				return after, err
			},
			func(q queue.Queue, with queue.Seen) (queue.Queue, error) {
				return q.Settle(queue.Settlement{Task: nextID, Epoch: epoch,
					Outcome: queue.Outcome{End: queue.Done}}, with)
			},
		} {
			_, editErr := l.EditQueue(id, fileops.Existing, func(q queue.Queue, with queue.Seen) (queue.Queue, error) {
				with.Observation = seen
				return verb(q, with)
			})
			err = errors.Join(err, editErr)
		}
		err = errors.Join(err, l.TidyQueue(id, seen.Now))
	}
	return err
}

// nextSpec is a spec that has a file of its own.
var nextSpec = queue.Spec{Text: strings.Repeat("next", 200)}.Content()
