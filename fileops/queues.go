package fileops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// queues are the documents in queues/.
var queues = Document[queue.Queue]{
	names: (*Ledger).queueDocument,
	none: func(id string, revision int64) queue.Queue {
		q := queue.Create(id)
		q.Schema, q.Revision = wire.Schema("queue"), revision
		return q
	},
	times:   func(v queue.Queue) observe.Times { return v.Times },
	prepare: prepareQueue,
	adds:    []string{"enqueue", "ask"},
	room:    "wait until tasks have ended, cancel some, or use another queue",
	committed: func(tx *Tx[queue.Queue]) {
		if tx.value.Removed {
			tx.ledger.recordLeftover(tx.ledger.removeEnded(tx.id))
		}
	},
	record: &recording[queue.Queue]{
		always: true,
		log:    func(l *Ledger, id string) string { return l.QueueAudit(id) },
		chain:  func(of *queue.Queue) *audit.Chain { return &of.Audit },
		verb:   func(of queue.Queue) string { return of.Effects().Verb },
		patch:  func(before, after queue.Queue) []audit.Change { return after.AuditPatch(before) },
		text:   queue.Queue.AuditText,
		find:   findQueue,
		urgent: func(before, after queue.Queue) bool {
			return len(after.Halts) > 0 && !wire.SameSlice(before.Halts, after.Halts) || after.Refused(before)
		},
	},
	files: []codec[queue.Queue]{{
		member: "queueId",
		decode: func(text string, to *queue.Queue) (_ string, err error) {
			*to, err = queue.Decode(text)
			return to.ID, err
		},
		encode:   func(from queue.Queue) io.WriterTo { return from },
		revision: func(of *queue.Queue) int64 { return of.Revision },
		take:     func(to *queue.Queue, from queue.Queue) { *to = from },
	}},
}

func (l *Ledger) queueDocument(id string) document {
	return document{
		id: id, dir: l.QueuesDir(), lock: l.QueueLock(id), missing: queue.ErrNoQueue,
		paths: []string{l.QueuePath(id)},
	}
}

// prepareQueue writes the specs of new tasks, remembers those that ended long ago, and publishes
// the files of a task that is done, so that all that the queue will tell of is durable before it
// does.
func prepareQueue(tx *Tx[queue.Queue], after queue.Queue) (queue.Queue, bool, error) {
	asked := after.Effects()
	err := tx.ledger.writeSpecs(tx.id, asked.Specs)
	for _, r := range asked.Reports {
		err = errors.Join(err, tx.ledger.writeReport(tx.id, r))
	}
	if err == nil && tx.absent {
		err = tx.ledger.createQueueDirs(tx.id)
	}
	if err == nil && tx.value.Removed { // its removal was killed before it could forget
		err = tx.ledger.removeEnded(tx.id)
	}
	if err != nil {
		return after, false, err
	}

	if len(asked.Remember) > 0 {
		if err := tx.checkLock(); err != nil {
			return after, false, err
		}
	}
	lines := make([]jsonl.Line, len(asked.Remember))
	for i, r := range asked.Remember {
		lines[i] = jsonl.Line{Seq: r.Seq, Text: r.Line()}
	}
	if err := tx.ledger.endedLog(tx.id).Append(lines); err != nil {
		return after, false, err
	}
	if len(lines) > 0 {
		tx.ledger.recordLeftover(tx.ledger.indexEnded(tx.id))
	}
	return after, false, tx.ledger.publish(asked.Publish, asked.PublishAgain, tx.checkLock)
}

// createQueueDirs makes the directories of a new queue durable before its commit, which may name a
// spec in them.
func (l *Ledger) createQueueDirs(id string) error {
	err := l.makeTasksDir(id)
	for _, dir := range []string{l.TasksDir(), l.QueuesDir(), l.Dir()} {
		if err == nil {
			err = l.fs.SyncDir(dir)
		}
	}
	return err
}

// writeSpecs writes specs that do not fit into a queue (spec §36.1). One that is there already may
// be what a killed edit has left, so it is written again.
func (l *Ledger) writeSpecs(id string, specs []queue.NewSpec) error {
	if len(specs) == 0 {
		return nil
	}

	if err := l.makeTasksDir(id); err != nil {
		return err
	}

	for _, s := range specs {
		path := l.SpecPath(id, s.Task, digits(s.Spec.Hash()))
		data := []byte(s.Spec + "\n")
		err := l.fs.WriteNew(path, data, true)
		if errors.Is(err, fs.ErrExist) {
			if err = l.fs.RemoveIfThere(path); err == nil {
				err = l.fs.WriteNew(path, data, true)
			}
		}
		if err != nil {
			return err
		}
	}
	return l.fs.SyncDir(l.QueueTasks(id))
}

func digits(hash string) string { return strings.TrimPrefix(hash, "sha256:") }

func (l *Ledger) endedLog(id string) jsonl.Log {
	return jsonl.Log{FS: l.fs, Path: l.EndedPath(id), Leased: l.store.Leased()}
}

// removeEnded forgets the tasks of a queue that ended long ago.
func (l *Ledger) removeEnded(id string) error {
	return errors.Join(l.fs.RemoveIfThere(l.EndedIndex(id)), l.fs.RemoveIfThere(l.EndedPath(id)))
}

// EditQueue applies verb to the queue id. See Document.Edit. If there is no queue, verb gets the
// result of queue.Create.
func (l *Ledger) EditQueue(id string, mode Mode,
	verb func(queue.Queue, queue.Seen) (queue.Queue, error)) (Edit[queue.Queue], error) {
	if err := queue.CheckID(id); err != nil {
		return Edit[queue.Queue]{}, err
	}
	if mode&OrCreate != 0 && mode&DryRun == 0 {
		if err := l.fs.EnsureDir(l.QueuesDir()); err != nil {
			return Edit[queue.Queue]{}, err
		}
	}
	return queues.Edit(l, id, mode,
		func(q queue.Queue, seen observe.Observation) (queue.Queue, error) {
			return verb(q, l.seeQueue(id, q, seen))
		})
}

// ReadQueue returns the queue id as the last edit left it. A queue that was removed is none.
func (l *Ledger) ReadQueue(id string) (queue.Queue, error) {
	if err := queue.CheckID(id); err != nil {
		return queue.Queue{}, err
	}
	q, _, err := queues.Read(l, id)
	if err == nil && q.Removed {
		err = queue.ErrNoQueue
	}
	return q, err
}

// ObserveQueue returns what an edit of q would see now, with seen. See Document.Observe.
func (l *Ledger) ObserveQueue(q queue.Queue, seen observe.Observation) queue.Seen {
	seen, _ = queues.Observe(l, q.ID, q, seen)
	return l.seeQueue(q.ID, q, seen)
}

// SeeQueue adds to seen the calls of attempts, the tasks that ended long ago, and other queues.
func (l *Ledger) SeeQueue(id string, seen observe.Observation) queue.Seen {
	return l.seeQueue(id, queue.Queue{}, seen)
}

// seeQueue is SeeQueue for q, which has that id.
func (l *Ledger) seeQueue(id string, q queue.Queue, seen observe.Observation) queue.Seen {
	var past map[string]queue.Ended
	asked := 0
	others := l.others(q, seen)
	return queue.Seen{
		Observation: seen,
		Call:        func(op, call string) queue.CallState { return l.callState(op, call, seen) },
		Past: func(task string) (queue.Ended, bool) {
			const few = 100 // mostly there is one question
			if asked++; asked <= few {
				return l.PastTask(id, task)
			}
			if past == nil {
				past = l.pastTasks(id)
			}
			ended, known := past[task]
			return ended, known
		},
		PastKey: func(keyID string) (queue.Ended, bool) {
			return l.pastTask(id, keyID, func(e queue.Ended) bool { return e.KeyID == keyID })
		},
		Question: others.question,
		Parked:   others.parkedGone,
		Recorded: func(chain audit.Chain, wanted func(audit.Line) bool) (bool, error) {
			return queues.record.of(l, id).Has(chain, wanted)
		},
	}
}

// callState returns what is seen of a call.
func (l *Ledger) callState(op, call string, seen observe.Observation) queue.CallState {
	operation, archived, err := l.ReadOperation(op)
	switch {
	case archived:
		return queue.CallOver
	case errors.Is(err, ErrNotFound) && l.attemptOver(op):
		return queue.CallOver
	case err != nil:
		return queue.CallUnseen
	}

	seen, _ = l.ObserveOperation(operation, seen)
	frame := operation.Frame(call)
	if frame == nil || operation.State.Terminal() {
		return queue.CallOver
	}

	after, err := operation.Cleanup("queue", seen)
	if frame = after.Frame(call); err == nil && (frame == nil || !frame.State.Live()) {
		return queue.CallCrashed
	}
	return queue.CallOpen
}

// attemptOver reports whether op is the operation of an attempt whose claim is certainly over. Such
// an operation is removed when it has completed, and leaves no trace.
func (l *Ledger) attemptOver(op string) bool {
	queueID, task, epoch, ok := queue.ParseAttemptID(op)
	if !ok {
		return false
	}
	q, err := l.ReadQueue(queueID)
	if err != nil {
		return false
	}
	t := q.Task(task)
	return epoch <= q.LastEpoch && (t == nil || t.Claim == nil || t.Claim.Epoch != epoch)
}

// pastTasks returns the tasks of a queue that ended long ago, by their ids.
func (l *Ledger) pastTasks(id string) map[string]queue.Ended {
	past := make(map[string]queue.Ended)
	l.eachPast(id, "", func(e queue.Ended) bool {
		if _, later := past[e.ID]; !later { // lines come last first
			past[e.ID] = e
		}
		return true
	})
	return past
}

// pastTask returns the last task of a queue that ended long ago and is meant, by the word in its
// line.
func (l *Ledger) pastTask(id, word string, meant func(queue.Ended) bool) (found queue.Ended, known bool) {
	l.eachPast(id, word, func(e queue.Ended) bool {
		if known = meant(e); known {
			found = e
		}
		return !known
	})
	return found, known
}

// eachPast calls do with the tasks of a queue that ended long ago, last first: at least with those
// that have the word as their id or keyId, if it is not "".
func (l *Ledger) eachPast(id, word string, do func(queue.Ended) bool) {
	err := l.eachEnded(id, word, func(line jsonl.Line) bool {
		ended, err := queue.DecodeRemembered(line.Text)
		return err != nil || do(ended)
	})
	if err != nil {
		l.recordLeftover(fmt.Errorf("%s: %w", l.EndedPath(id), err))
	}
}

// ReadSpec returns the spec of a task.
func (l *Ledger) ReadSpec(id string, t *queue.Task) (queue.Content, error) {
	spec, hash, inline := t.Content()
	if inline {
		return spec, nil
	}

	path := l.SpecPath(id, t.ID, digits(hash))
	data, _, err := l.fs.ReadFile(path)
	if err != nil {
		return "", err
	}

	spec = queue.Content(strings.TrimSuffix(string(data), "\n"))
	if spec.Hash() != hash {
		return "", fmt.Errorf("%s: %w: it is not what was enqueued", path, wire.ErrCorrupt)
	}
	return spec, nil
}

// QueueIDs returns the ids of the queues, sorted, with those that were removed.
func (l *Ledger) QueueIDs() ([]string, error) {
	defer l.fs.Refresh()
	names, err := l.fs.Entries(l.QueuesDir())
	if err != nil {
		return nil, err
	}

	var ids []string
	for _, name := range names {
		if kind, id := layout.InQueues(name); kind == layout.QueueFile {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// A TaskFile is a file of a task.
type TaskFile struct {
	layout.TaskFile
	Path string
}

// TaskFiles returns the files of the tasks of a queue, in any order.
func (l *Ledger) TaskFiles(id string) (found []TaskFile, err error) {
	if err := queue.CheckID(id); err != nil {
		return nil, err
	}
	found, _, err = l.taskFiles(id)
	return found, err
}

// taskFiles also returns the temporary files that killed edits have left beside them.
func (l *Ledger) taskFiles(id string) (found []TaskFile, temps []string, err error) {
	dir := l.QueueTasks(id)
	names, err := l.fs.Entries(dir)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if f, ok := layout.InTasks(name); ok {
			found = append(found, TaskFile{f, path})
		} else if of, isTemp := layout.TempFor(name); isTemp {
			if _, ok := layout.InTasks(of); ok {
				temps = append(temps, path)
			}
		}
	}
	return found, temps, err
}

// WriteAttemptStart stores how the files of an attempt are at its start (spec §43). It is not
// synced: a power cut ends the attempt, too.
func (l *Ledger) WriteAttemptStart(id, task string, epoch int64, text string) error {
	if err := l.makeTasksDir(id); err != nil {
		return err
	}
	f, err := l.fs.CreateFile(l.AttemptStart(id, task, epoch))
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Close())
}

// writeReport stores the report of an attempt (spec §36.1).
func (l *Ledger) writeReport(id string, r queue.Report) error {
	if err := l.makeTasksDir(id); err != nil {
		return err
	}
	err := l.fs.WriteOver(l.AttemptReport(id, r.Task, r.Epoch), func(f disk.File) error {
		if _, err := f.Write([]byte(r.Text)); err != nil {
			return err
		}
		return l.fs.SyncFile(f)
	})
	if err != nil {
		return err
	}
	return l.fs.SyncDir(l.QueueTasks(id))
}

// makeTasksDir makes the directory of the files of the tasks of a queue.
func (l *Ledger) makeTasksDir(id string) error {
	for _, dir := range []string{l.TasksDir(), l.QueueTasks(id)} {
		if err := l.fs.EnsureDir(dir); err != nil {
			return err
		}
	}
	return nil
}
