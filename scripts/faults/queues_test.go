//go:build linux

package faults

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

var (
	enqueueOne = at(0, "dpl-enqueue --queue q --id one --max-attempts 9 -- true")
	enqueueTwo = at(0, "dpl-enqueue --queue q --id two --after one -- true")
	claimOne   = at(1, "dpl-claim --queue q --participant w --deadline 1h")
	recordMain = at(0, "dpl-audit --op o --on")
	recordG    = at(0, "dpl-audit --group g --on")
	settleOne  = at(2, "dpl-settle --queue q --task one --epoch 1 --done")
)

// asked asks for a permission.
func asked(t *testing.T, w *world) {
	ask := at(1, "dpl-ask --question why --to ada --pid $me --key k --wait 1ms --timeout 1000h")
	if got := w.run(ask); got.status != 75 {
		t.Fatalf("%v: %v", ask, got)
	}
	l, err := fileops.Open(w.ledger(), fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := l.ReadQueue("ask.ada")
	if err != nil {
		t.Fatal(err)
	}
	w.question, w.shown = q.Tasks[0].ID, q.Tasks[0].Shown(q.ID).Hash()
}

// requestFiles are a request and a rule that allows it.
func requestFiles(t *testing.T, w *world) {
	for name, text := range map[string]string{
		"input.json": `{"tool":"Bash","argv":["ls"]}`,
		"allow.json": `{"rules":[{"decide":"allow","tool":"Bash","argv":["ls"]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(w.base, "res", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// queueSubjects are the commands that write queues.
func queueSubjects() []subject {
	queued := []step{enqueueOne, enqueueTwo}
	claimed := append(queued[:2:2], claimOne)
	return []subject{
		{name: "enqueue makes the ledger", do: enqueueOne},
		{name: "enqueue", setup: []step{enqueueOne},
			do: at(1, "dpl-enqueue --queue q --id two --priority -1 --after one --in-group g --delay 1s "+
				"--at 2030-01-01T00:00:00Z --expires 1h --max-attempts 3 --timeout 1m --soft-timeout 30s "+
				"--kill-after 1s --dir / -- true")},
		{name: "enqueue a long spec", setup: []step{enqueueOne},
			do: at(1, "dpl-enqueue --queue q --id long --text "+strings.Repeat("x", 1000)), optional: "/L/queues/tasks"},
		{name: "enqueue --key", do: at(1, "dpl-enqueue --queue q --key https://x/1 --text x")},
		{name: "enqueue --dead", setup: []step{at(0, "dpl-enqueue --queue q --id one --max-attempts 1 -- true"),
			claimOne, at(2, "dpl-settle --queue q --task one --epoch 1 --fail")},
			do: at(3, "dpl-enqueue --queue q --dead")},
		{name: "enqueue --replace", setup: queued, do: at(1, "dpl-enqueue --queue q --id two --replace -- false")},
		{name: "enqueue many", setup: []step{enqueueOne}, prepare: tasksFile,
			do: at(1, "dpl-enqueue --queue q --file $res/tasks.json --no-create")},
		{name: "enqueue --check", setup: []step{enqueueOne}, prepare: rulesFile,
			do: at(1, "dpl-enqueue --queue q --id two --check $res/rules.json -- true")},
		{name: "enqueue --again", setup: []step{enqueueOne, claimOne,
			at(2, "dpl-settle --queue q --task one --epoch 1 --block why")},
			do: at(3, "dpl-enqueue --queue q --again one")},
		{name: "enqueue --cancel", setup: claimed,
			do: at(2, "dpl-enqueue --queue q --cancel one --cancel two --reason enough")},
		{name: "claim", setup: queued, do: claimOne},
		{name: "claim --wait", setup: queued,
			do: at(1, "dpl-claim --queue q --participant w --deadline 1h --wait --timeout 5s")},
		{name: "claim for a call", setup: append(queued[:2:2], pushMain),
			do: at(1, "dpl-claim --queue q --participant cli --op o --call main")},
		{name: "claim returns and takes", setup: claimed,
			do: at(later*10, "dpl-claim --queue q --pid $me --task one")},
		{name: "settle", setup: claimed, do: settleOne},
		{name: "settle --release", setup: claimed,
			do: at(2, "dpl-settle --queue q --task one --epoch 1 --release")},
		{name: "settle --unclaim", setup: claimed,
			do: at(2, "dpl-settle --queue q --task one --epoch 1 --unclaim")},
		{name: "settle --snooze", setup: claimed,
			do: at(2, "dpl-settle --queue q --task one --epoch 1 --snooze 1h")},
		{name: "settle --block", setup: claimed,
			do: at(2, "dpl-settle --queue q --task one --epoch 1 --block why")},
		{name: "settle --publish", setup: claimed, prepare: publication,
			do:   at(2, "dpl-settle --queue q --task one --epoch 1 --done --publish $res/new=$res/out"),
			also: publishedIfDone, locked: true},
		{name: "wait --queue", setup: []step{
			at(0, "dpl-enqueue --queue q --id one --max-attempts 1 -- true"), claimOne},
			do:      at(later*10, "dpl-wait --queue q --task one --for settled --timeout 1s"),
			several: true, beyond: true, optional: "/L", answers: []int{124}},
		{name: "settle --fail", setup: claimed, prepare: tasksFile,
			do: at(2, "dpl-settle --queue q --task one --epoch 1 --fail --status 3 --reason bad --report "+
				"$res/tasks.json")},
		{name: "settle and remember", setup: []step{enqueueOne}, prepare: manyEnded,
			do: at(3, "dpl-claim --queue q --participant w --deadline 1h"), also: remembered},
		{name: "queue --create", do: at(0, "dpl-queue --queue q --create --goal ship --halt wait --slots 2 "+
			"--max-attempts 3 --backoff 1s,2s --halt-on dead:3 --on-dead-dependency cancel --depth 9 "+
			"--age-after 1h --remember-for 1d --permits 2")},
		{name: "queue --halt", setup: claimed,
			do: at(2, "dpl-queue --queue q --halt lunch --details soup --as ada --abort --goal-done --close")},
		{name: "queue --resume", setup: append(queued[:2:2], at(1, "dpl-queue --queue q --halt lunch")),
			do: at(2, "dpl-queue --queue q --resume --open --permits all")},
		{name: "queue --remove", setup: []step{enqueueOne, claimOne, settleOne},
			do: at(3, "dpl-queue --queue q --remove")},
		{name: "ask with a rule", prepare: requestFiles,
			do: at(1, "dpl-ask --question may --input $res/input.json --rules "+
				"$res/allow.json --allow-writable-rules --participant w --timeout 5m")},
		{name: "ask --key", setup: []step{pushMain},
			do: at(1, "dpl-ask --question why --kind question --choice a --choice b --to ada --pid $me "+
				"--key k --wait 1ms --on-alert true"), optional: "/L", loose: true, open: true},
		{name: "answer", setup: []step{pushMain}, prepare: asked,
			do: at(2, "dpl-answer --id $question --to ada --shown $shown --participant ada --allow-self "+
				"--allow yes")},
		{name: "answer --deny", setup: []step{pushMain}, prepare: asked,
			do: at(2, "dpl-answer --id $question --to ada --participant ada --allow-self --deny never")},
		{name: "the record is synced", setup: []step{enqueueOne}, prepare: manyPending, do: enqueueTwo,
			optional: "q.audit.jsonl"},
		{name: "audit --seal", setup: claimed, do: at(2, "dpl-audit --queue q --seal")},
		{name: "audit --on", setup: []step{pushMain}, do: recordMain},
		{name: "audit --off", setup: []step{pushMain, recordMain}, do: at(1, "dpl-audit --op o --off")},
		{name: "a recorded pop", setup: []step{pushMain, recordMain}, do: popMain},
		{name: "audit --group --on", setup: []step{itself}, do: recordG},
		{name: "a recorded pass", setup: []step{request, itself, recordG}, do: pass, several: true,
			settled: oneRuns},
		{name: "audit --note", setup: claimed, prepare: rulesFile,
			do: at(2, "dpl-audit --queue q --note prompt --data $res/rules.json --task one")},
		{name: "cleanup ticks", setup: claimed, do: at(later*10, "dpl-cleanup"), beyond: true},
	}
}

// tasksFile is a file of tasks.
func tasksFile(t *testing.T, w *world) {
	const tasks = `[{"taskId":"a","argv":["true"]},{"taskId":"b","argv":["true"],"after":["a"]}]`
	if err := os.WriteFile(filepath.Join(w.base, "res", "tasks.json"), []byte(tasks), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rulesFile(t *testing.T, w *world) {
	const rules = `{"exit":[0],"files":["data"]}`
	if err := os.WriteFile(filepath.Join(w.base, "res", "rules.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkedTask enqueues task one, which must change a file, and has a check that runs a command.
func checkedTask(t *testing.T, w *world) {
	res := filepath.Join(w.base, "res")
	for name, text := range map[string]string{
		"rules.json": `{"changed":["data"],"command":["grep","-q","x","data"]}`, "data": "old"} {
		if err := os.WriteFile(filepath.Join(res, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	enqueue := words(0, "dpl-enqueue --queue q --id one --max-attempts 9 --check $res/rules.json --dir "+
		"$res --", "sh", "-c", "echo x >>data")
	if got := w.run(enqueue); got.status != 0 {
		t.Fatal(got)
	}
}

// checkedClaim also claims it, and does it.
func checkedClaim(t *testing.T, w *world) {
	checkedTask(t, w)
	if got := w.run(claimOne); got.status != 0 {
		t.Fatal(got)
	}
	if err := os.WriteFile(filepath.Join(w.base, "res", "data"), []byte("x, and longer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// settlesChecked settles once more, unless the first time was seen, and then drains the queue.
func settlesChecked(w *world) string {
	q, err := w.queue()
	if err != nil {
		return err.Error()
	}
	if one := q.Task("one"); one != nil && one.Claim != nil {
		if got := w.run(settleOne); got.status != 0 {
			return fmt.Sprint(got)
		}
	}
	return drainsChecked(w)
}

// drainsChecked looks that a kill is charged once at most, and drains the queue. A task whose check
// could not be made waits for a person, who has it tried again.
func drainsChecked(w *world) string {
	w.run(at(later-1, "dpl-cleanup --if-exists"))
	q, err := w.queue()
	if err != nil {
		return err.Error()
	}
	if one := q.Task("one"); one != nil {
		asked := one.State == queue.Blocked && one.Last.End == queue.Uncertain
		if one.Charged > 1 || one.State == queue.Blocked && !asked || asked && one.Charged > 0 {
			return fmt.Sprintf("after one kill it is %s, ended as %s, and was charged %d times", one.State,
				one.Last.End, one.Charged)
		}
		if asked {
			w.run(at(later, "dpl-enqueue --queue q --again one"))
		}
	}
	return drains(w)
}

// manyEnded makes the queue q one of which an edit has to remember tasks elsewhere.
func manyEnded(t *testing.T, w *world) {
	q, err := w.queue()
	if err != nil {
		t.Fatal(err)
	}

	hash := queue.Content("{}").Hash()
	for i := range 201 {
		q.Ended = append(q.Ended, queue.Ended{ID: fmt.Sprintf("old%d", i), End: queue.EndedDone,
			Spec: hash, At: q.Tasks[0].EnqueuedAt})
	}
	q.Counters.Done = 201
	q.Audit = audit.Chain{} // its record begins anew
	if err := os.Remove(w.file("queues/q.audit.jsonl")); err != nil {
		t.Fatal(err)
	}
	path := w.file("queues/q.json")
	if w.links() {
		path += fmt.Sprintf(".%d", q.Revision)
	}
	if err := os.WriteFile(path, []byte(q.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// manyPending makes the queue q one whose next edit makes its record durable in the log, the second
// time.
func manyPending(t *testing.T, w *world) {
	for i := range 31 {
		if got := w.run(at(0, fmt.Sprintf("dpl-queue --queue q --slots %d", i+2))); got.status != 0 {
			t.Fatal(got)
		}
	}
}

// verifyMain returns an error if the operation o has a record that is not whole.
func (w *world) verifyMain() error { return w.verify("o", (*fileops.Ledger).AuditedOperation) }

// verifyGroup returns an error if the group g has a record that is not whole.
func (w *world) verifyGroup() error { return w.verify("g", (*fileops.Ledger).AuditedGroup) }

// verify returns an error if the object id, which open opens, has a record that is not whole. A
// ledger that others may write to, which dpl-doctor has not mended yet, is read by nobody.
func (w *world) verify(id string,
	open func(l *fileops.Ledger, id string) (fileops.Audited, error)) error {
	l, err := fileops.Open(w.ledger(), fileops.Options{})
	if errors.Is(err, fileops.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	object, err := open(l, id)
	if err != nil {
		return err
	}
	v := &audit.Verifier{}
	_, err = object.Verify(v, fileops.Feed)
	switch {
	case errors.Is(err, fileops.ErrNoRecord) || errors.Is(err, fileops.ErrNotFound) ||
		errors.Is(err, fileops.ErrNoGroup) || errors.Is(err, fileops.ErrPermission):
		return nil
	case err == nil && len(v.Findings) > 0:
		return fmt.Errorf("torn: the record of %s: %v", id, v.Findings)
	}
	return err
}

// record returns the lines of the record of the queue q, which must be whole: no line is missing or
// there twice, and the file is what they say.
func (w *world) record() (string, error) {
	l, err := fileops.Open(w.ledger(), fileops.Options{})
	if err != nil {
		return "", err
	}
	object, err := l.AuditedQueue("q")
	if err != nil {
		return "", err
	}

	var all []string
	take := func(text string) error {
		line, err := audit.Parse(text)
		if err == nil && line.Seq > int64(len(all)) {
			all = append(all, fmt.Sprintln(line.At, line.Verb, line.Revision, line.Note))
			for _, c := range line.Patch {
				text, _ := comparable([]byte(`{"before":` + cmp.Or(c.Before, "0") + `,"after":` +
					cmp.Or(c.After, "0") + "}"))
				all[len(all)-1] += c.Path + ": " + text + "\n"
			}
		}
		return err
	}
	v := &audit.Verifier{}
	end, err := object.Verify(v, func(v *audit.Verifier, lines []string) {
		fileops.Feed(v, lines)
		for _, text := range lines {
			take(text)
		}
	})
	if errors.Is(err, fileops.ErrNoRecord) {
		return "", nil // its file was written by hand
	}
	for _, text := range end.Chain.Pending {
		err = errors.Join(err, take(text))
	}
	if err == nil && (len(v.Findings) > 0 || int64(len(all)) != end.Chain.Seq || len(v.Marks) > 1) {
		err = fmt.Errorf("torn: the record of q: %v, %v, %d lines", v.Findings, v.Marks, len(all))
	}
	return strings.Join(all, ""), err
}

// queue returns the queue q.
func (w *world) queue() (queue.Queue, error) {
	l, err := fileops.Open(w.ledger(), fileops.Options{})
	if err != nil {
		return queue.Queue{}, err
	}
	return l.ReadQueue("q")
}

// drains has workers go on until the queue is empty. However often they were killed, each task is
// done, and once.
func drains(w *world) string {
	for seconds := later; seconds < later+20; seconds++ {
		w.run(at(seconds, "dpl-cleanup --if-exists"))
		got := w.run(at(seconds, "dpl-work q"))
		if got.status == 66 {
			return "" // it was never made
		}
		if got.status != 0 && got.status != 1 { // 1: tasks are left, such as delayed ones
			return fmt.Sprint(got)
		}

		q, err := w.queue()
		if err != nil {
			return err.Error()
		}
		if q.Idle() {
			return doneOnce(q)
		}
	}
	return "there is still something to do"
}

// tell is a step that tells of the halts of a queue.
var tell = at(2, "dpl-work q --once --on-alert true")

// told tells again, and looks that nothing is left to be told.
func told(w *world) string {
	if got := w.run(tell); got.status != 3 {
		return fmt.Sprint(got)
	}
	q, err := w.queue()
	if err != nil {
		return err.Error()
	}
	if alerts := q.Alerts(); len(alerts) > 0 {
		return fmt.Sprintf("not told: %v", alerts)
	}
	return ""
}

// doneOnce looks that all tasks of q are done, each once.
func doneOnce(q queue.Queue) string {
	seen := make(map[string]bool)
	for _, e := range q.Ended {
		if seen[e.ID] || e.End != queue.EndedDone {
			return fmt.Sprintf("task %s ended twice, or %s", e.ID, e.End)
		}
		seen[e.ID] = true
	}
	if len(q.Tasks) > 0 || int64(len(seen)) != q.Counters.Done || q.Counters.Enqueued != q.Counters.Done {
		return fmt.Sprintf("%d of %d are done: %s", len(seen), q.Counters.Enqueued, q.Encode())
	}
	if claims := q.Counters.Claimed; claims != q.LastEpoch {
		return fmt.Sprintf("%d claims, and the last epoch is %d", claims, q.LastEpoch)
	}
	return ""
}

// publication writes a file, and the one that it is to replace.
func publication(t *testing.T, w *world) {
	for _, name := range []string{"new", "out"} {
		if err := os.WriteFile(filepath.Join(w.base, "res", name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// publishedIfDone says whether a task that is done has its file, and a file is ever torn.
func publishedIfDone(w *world) string {
	q, err := w.queue()
	if err != nil {
		return err.Error()
	}
	_, done := q.EndedTask("one")
	text, err := os.ReadFile(filepath.Join(w.base, "res", "out"))
	switch out := string(text); {
	case err != nil:
		return err.Error()
	case done && out != "new":
		return "done, but not published"
	case out != "new" && out != "out":
		return "torn: " + out
	}
	return "whole"
}

// remembered returns how many tasks of the queue q are known to have ended: none is ever forgotten.
func remembered(w *world) string {
	q, err := w.queue()
	if err != nil {
		return err.Error()
	}
	l, err := fileops.Open(w.ledger(), fileops.Options{})
	if err != nil {
		return err.Error()
	}

	known, seen := 0, l.SeeQueue("q", observe.Observation{})
	for i := range 201 {
		id := fmt.Sprintf("old%d", i)
		_, there := q.EndedTask(id)
		if _, past := seen.Past(id); there || past {
			known++
		}
	}
	return fmt.Sprint(known, " are known")
}
