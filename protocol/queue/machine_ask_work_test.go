package queue

import (
	"fmt"

	"pgregory.net/rapid"
)

// The tasks beside a queue of questions.

// change makes an edit of the queue of tasks, and checks what it did. redriven is a task that may
// go on whatever it waits for.
func (d *desk) change(t *rapid.T, name, redriven string, do func(Queue, Seen) (Queue, error)) {
	v := d.verb(t, name)
	before, seen := d.work, d.seenFrom(v.at)
	seen.Past, seen.Call = nil, nil
	text := before.Encode()
	after, err := do(before, seen)
	t.Logf("%s, %s, unreadable %t: %v", name, v.at, d.unreadable, err)
	d.checkEdit(t, before, after, text, err)
	if err != nil {
		return
	}
	if again, err := after.Pass(seen); err != nil || again.Encode() != after.Encode() {
		t.Fatalf("a pass after %s: %v\n%s\nwas:\n%s", name, err, again.Encode(), after.Encode())
	}

	for _, task := range before.Tasks {
		_, id, ok := ParseQuestionName(task.Question)
		if ok && task.State == Blocked && task.ID != redriven {
			d.checkParked(t, v, task, after, id)
		}
	}
	for _, task := range after.Tasks {
		_, id, ok := ParseQuestionName(task.Question)
		if ok && task.State == Blocked && !d.unreadable && d.ended(id, v.at) {
			t.Fatalf("%s is blocked on %s, which has ended:\n%s", task.ID, id, d.asks.Encode())
		}
		most := after.Policy.MaxAttempts
		if task.State == Waiting && (task.Tries >= triesPerFailure*most || task.Charged >= most) {
			t.Fatalf("%s is waiting after %d tries and %d failures", task.ID, task.Tries, task.Charged)
		}
	}
	d.work = d.checkFile(t, after)
}

// ended reports whether the question id has ended, or an edit by an observer at p would end it.
func (d *desk) ended(id string, p place) bool {
	task := d.asks.Task(id)
	if task == nil || d.over(d.questions[task.Seq].expires, p) == TimedOut {
		return true
	}
	for _, a := range task.Ask.Askers {
		if !d.gone(d.askers[a.Participant], id, p) {
			return false
		}
	}
	return true
}

// checkParked checks what has become of task, which was blocked on the question id.
func (d *desk) checkParked(t *rapid.T, v *deskVerb, task *Task, after Queue, id string) {
	now := after.Task(task.ID)
	if now != nil && now.State == Blocked && now.Question == task.Question {
		return
	}
	if d.unreadable || !d.ended(id, v.at) {
		t.Fatalf("%s goes on, but %s is open, or cannot be read:\n%s", task.ID, id, d.asks.Encode())
	}

	end := d.seenFrom(v.at).Question(task.Question).End
	uncertain := task.Last.End == Uncertain
	switch {
	case now == nil:
		e, _ := after.EndedTask(task.ID)
		if !uncertain || end != EndedAllowed || e.Last.End != Done {
			t.Fatalf("%s is done by %s:\n%s", task.ID, end, after.Encode())
		}
	case uncertain && end == EndedDenied:
		if now.State == Blocked || now.Charged != task.Charged+1 || now.Last.End != Rejected {
			t.Fatalf("%s was denied, and is %+v", task.ID, now)
		}
	case uncertain:
		if now.State != Blocked || now.Question != "" || end.Decided() && end != EndedAnswered {
			t.Fatalf("%s has %s for a verdict, and is %+v", task.ID, end, now)
		}
	case now.Charged != task.Charged || now.Last != task.Last || now.State == Waiting &&
		now.Question != task.Question:
		t.Fatalf("%s has %s for an answer, and is %+v", task.ID, end, now)
	}
}

// task returns a task in state, or nil.
func (d *desk) task(t *rapid.T, state TaskState) *Task {
	var all []*Task
	for _, task := range d.work.Tasks {
		if task.State == state {
			all = append(all, task)
		}
	}
	if all == nil {
		return nil
	}
	return one(t, "task", all...)
}

func (d *desk) claimTask(t *rapid.T) {
	if len(d.work.Tasks) < 3 {
		d.made++
		d.change(t, "enqueue", "", func(q Queue, seen Seen) (Queue, error) {
			return q.Enqueue([]New{{ID: fmt.Sprint("t", d.made), Spec: "{}"}}, seen)
		})
	}
	d.asked++
	d.change(t, "claim", "", func(q Queue, seen Seen) (Queue, error) {
		after, _, err := q.Claim(Claimer{Participant: fmt.Sprint("w", d.asked)}, "", seen)
		return after, err
	})
}

// park lets an attempt ask and block its task on the question, unless it is killed in between.
func (d *desk) park(t *rapid.T) {
	task := d.task(t, Claimed)
	if task == nil {
		return
	}
	v := d.verb(t, "ask")
	d.asked++
	a := Asker{Participant: fmt.Sprint("p", d.asked), Queue: "q", Task: task.ID, Epoch: task.Claim.Epoch}
	if one(t, "process", 0, 1) == 1 {
		a.Process = d.w.run(1)
		a.PID, a.Operation = 1, "o"
	}
	d.noteAsker(v, a)
	name := d.makeAsk(t, v, a)
	if name == "" || one(t, "killed", 0, 0, 0, 1) == 1 {
		return
	}

	s := Settlement{Task: task.ID, Epoch: task.Claim.Epoch, Later: one(t, "later", false, false, true),
		Outcome: Outcome{End: one(t, "end", Asked, Asked, Uncertain), Reason: "?", Question: name}}
	d.change(t, "park", "", func(q Queue, seen Seen) (Queue, error) { return q.Settle(s, seen) })
}

func (d *desk) endAttempt(t *rapid.T) {
	task := d.task(t, Claimed)
	if task == nil {
		return
	}
	s := Settlement{Task: task.ID, Epoch: task.Claim.Epoch,
		Outcome: Outcome{End: one(t, "end", Released, Failed, Done)}}
	d.change(t, "settle", "", func(q Queue, seen Seen) (Queue, error) { return q.Settle(s, seen) })
}

func (d *desk) redriveTask(t *rapid.T) {
	task := d.task(t, one(t, "state", Blocked, Dead))
	if task == nil || one(t, "redrive", 0, 0, 1) == 0 {
		return
	}
	d.change(t, "redrive", task.ID, func(q Queue, seen Seen) (Queue, error) {
		return q.Redrive([]string{task.ID}, false, seen)
	})
}

func (d *desk) passWork(t *rapid.T) { d.change(t, "pass", "", Queue.Pass) }
