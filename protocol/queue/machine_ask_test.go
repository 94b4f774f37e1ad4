package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A desk is a queue of questions beside a queue of tasks that ask some of them, in the world of a
// machine.
type desk struct {
	machine    // its queue and tasks are not used, and its past is that of the questions
	asks, work Queue
	unreadable bool // neither queue can be read by the other one's edits
	asked      int  // askers that were made
	drawn      int  // ids of questions that were drawn
	remembered int64
	askers     map[string]*askerTruth
	questions  map[int64]*questionTruth // by seq
}

// askerTruth is what is true of an asker, whose participant no other one has.
type askerTruth struct {
	asker, waiter *attempt // that of a claim of these processes, which ends as they do
	at            Asker
}

// questionTruth is what has become of a question.
type questionTruth struct {
	id      string
	kind    AskKind
	expires *attempt // that of a claim with its deadline
	end     TaskEnd  // "": it is open
}

// A deskVerb is an edit that a desk makes.
type deskVerb struct {
	name  string
	at    place
	do    func(q Queue, seen Seen) (Queue, error)
	id    string  // the question that it may end
	end   TaskEnd // as
	asker string  // that it may remove; "*": every one

	renews *askerTruth // who asks now, if that is a new question; nil: nobody who did before
}

// TestDesk compares questions with a model of who really asks them: each ends at most once, and
// only by an answer, by a rule, by its expiry, or because nobody asks any more; and no task stays
// blocked on a question that has ended (spec §46, §47). It makes the same histories each time.
func TestDesk(t *testing.T) {
	fixHistories(t)
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(r)
		r.Repeat(map[string]func(*rapid.T){
			"ask": d.ask, "ask more": d.ask, "ask again": d.askAgain, "answer": d.answer,
			"answer more": d.answer, "withdraw": d.withdraw, "cancel": d.cancelQuestion,
			"look at questions": d.tickAsks, "claim a task": d.claimTask, "park": d.park,
			"park again": d.park, "end an attempt": d.endAttempt, "redrive a task": d.redriveTask,
			"look at tasks": d.passWork, "exit": d.exit, "pass time": d.passTime,
			"set the clock": d.setClock, "reboot": d.reboot, "end a call": d.endCall,
			"cannot read": d.cannotRead,
		})
	})
}

func newDesk(t *rapid.T) *desk {
	d := &desk{machine: machine{w: newWorld(), past: make(map[string]Remembered)},
		asks: Create("ask"), work: Create("q"), askers: make(map[string]*askerTruth),
		questions: make(map[int64]*questionTruth)}
	d.asks.Policy.Depth = one[int64](t, "depth", 0, 3, 1000)
	d.work.Policy.MaxAttempts = one[int64](t, "maxAttempts", 1, 2, 10)
	d.work.Policy.Backoff = nil

	before := one(t, "ended before", 0, 0, 0, 0, 0, 64)
	d.asks.LastSeq, d.asks.Counters.Enqueued = int64(before), int64(before)
	for i := range before {
		d.asks.Ended = append(d.asks.Ended, Ended{ID: fmt.Sprint("old-", i), End: EndedDenied,
			Spec: Content("{}").Hash(), At: d.w.wall})
		d.asks.Counters.Denied++
	}
	return d
}

func (d *desk) cannotRead(t *rapid.T) { d.unreadable = one(t, "unreadable", false, false, true) }

// seenFrom returns what an edit of either queue sees, from p.
func (d *desk) seenFrom(p place) Seen {
	seen := d.machine.seen(p)
	seen.PastKey = func(keyID string) (found Ended, known bool) {
		seq := int64(0)
		for _, r := range d.past {
			if r.KeyID == keyID && r.Seq > seq {
				found, seq, known = r.Ended, r.Seq, true
			}
		}
		return found, known
	}
	seen.Question = func(name string) QuestionState {
		if d.unreadable {
			return QuestionState{}
		}
		passed, err := d.asks.Pass(d.seenFrom(p))
		if err != nil {
			passed = d.asks
		}
		_, id, _ := ParseQuestionName(name)
		if t := passed.Task(id); t != nil {
			return QuestionState{Known: true, Left: t.Expiry()}
		}
		state := QuestionState{Known: true, End: EndedWithdrawn}
		if e, ok := passed.EndedTask(id); ok {
			state.End = e.End
		} else if r, ok := d.past[id]; ok {
			state.End = r.End
		}
		return state
	}
	seen.Parked = func(_, task string, epoch int64, question string) bool {
		return !d.unreadable && !d.waits(task, epoch, question)
	}
	return seen
}

// waits reports whether the attempt epoch at a task runs, or the task is blocked on question.
func (d *desk) waits(task string, epoch int64, question string) bool {
	t := d.work.Task(task)
	switch {
	case t == nil:
		return false
	case t.State == Claimed:
		return t.Claim.Epoch == epoch
	}
	return t.State == Blocked && t.Question == question
}

func (d *desk) verb(t *rapid.T, name string) *deskVerb {
	return &deskVerb{name: name, at: one(t, "place", here, here, here, here, blind, elsewhere)}
}

// newAsker returns an asker that nobody is yet: a process, one on whose behalf another one waits, a
// call, or nobody that anybody could tell about.
func (d *desk) newAsker(t *rapid.T, v *deskVerb) Asker {
	d.asked++
	a := Asker{Participant: fmt.Sprint("p", d.asked)}
	if v.at != elsewhere && one(t, "process", true, true, false) {
		a.Process = d.w.run(one(t, "pid", 1, 2, 3))
		a.PID = a.Process.PID
	}
	if v.at != elsewhere && one(t, "waits", 0, 0, 1) == 1 {
		a.Waiter = d.w.run(4)
	}
	if one(t, "calls", 0, 0, 1) == 1 {
		a.Operation, a.Call = "o", one(t, "call", "m", "n")
		d.w.calls[a.Call] = CallOpen
	}
	d.noteAsker(v, a)
	return a
}

func (d *desk) noteAsker(v *deskVerb, a Asker) {
	made := func(c Claimer) *attempt {
		return &attempt{claimer: claimer{Claimer: c}, boot: d.w.boot, mono: d.w.mono, wall: d.w.wall,
			blind: v.at != here}
	}
	d.askers[a.Participant] = &askerTruth{at: a,
		asker:  made(Claimer{Process: a.Process, Call: a.Call}),
		waiter: made(Claimer{Process: a.Waiter})}
}

func (d *desk) ask(t *rapid.T) {
	v := d.verb(t, "ask")
	d.makeAsk(t, v, d.newAsker(t, v))
}

// makeAsk asks, and returns the name of the question, or "" if that was refused.
func (d *desk) makeAsk(t *rapid.T, v *deskVerb, a Asker) string {
	q := Question{Kind: one(t, "kind", AskPermission, AskPermission, AskQuestion), Asker: a, Text: "?",
		Spec: Content(one(t, "spec", `{}`, `{}`, `{}`, `{"text":"other"}`)), Scope: "task q/" + a.Task,
		Expires: one(t, "expires", 0, time.Second, 5*time.Second, time.Hour)}
	q.Key = one(t, "key", "", "", "k", "l")
	q.ID, q.Nonce = d.newID(t)
	if q.Kind == AskPermission && one(t, "ruled", 0, 0, 0, 0, 1) == 1 {
		q.Ruled, q.RuledEnd = &Rule{"/r", Content("{}").Hash(), 1}, one(t, "rule", EndedAllowed, EndedDenied)
	}

	id := ""
	v.do = func(before Queue, seen Seen) (after Queue, err error) {
		after, id, err = before.Ask(q, seen)
		if q.Ruled != nil && err == nil {
			v.id, v.end = id, q.RuledEnd
		}
		return after, err
	}
	if !d.edit(t, v, q) {
		return ""
	}
	d.checkAsked(t, q, id)
	return QuestionName("ask", id)
}

// newID returns an id and a nonce; sometimes the id of another question.
func (d *desk) newID(t *rapid.T) (id, nonce string) {
	d.drawn++
	id = fmt.Sprint("q", d.drawn)
	if open := d.open(t); open != nil && one(t, "taken", 0, 0, 0, 1) == 1 {
		id = open.ID
	}
	return id, fmt.Sprintf("%032x", d.drawn)
}

// askAgain lets an asker ask the same again, which asks nothing if it has a key.
func (d *desk) askAgain(t *rapid.T) {
	open := d.open(t)
	if open == nil || open.Key == "" {
		return
	}
	v := d.verb(t, "ask")
	a := d.askers[open.Ask.Askers[0].Participant]
	task := d.work.Task(a.at.Task)
	if d.gone(a, open.ID, v.at) || task != nil && task.State == Blocked { // nothing of it runs
		return
	}
	q := Question{Kind: open.Ask.Kind, Asker: a.at, Spec: Content(open.Spec), Key: open.Key,
		Scope: "task q/" + a.at.Task}
	q.ID, q.Nonce = d.newID(t)
	v.do = func(before Queue, seen Seen) (Queue, error) {
		passed, _ := before.Pass(seen)
		after, id, err := before.Ask(q, seen)
		if t := passed.Task(open.ID); err == nil && t != nil && (id != open.ID ||
			len(after.Task(id).Ask.Askers) != len(t.Ask.Askers)) {
			return after, fmt.Errorf("it was asked twice: %s", after.Encode())
		}
		return after, err
	}
	v.renews = a
	d.edit(t, v, q)
}

// open returns a question that is open, or nil.
func (d *desk) open(t *rapid.T) *Task {
	if len(d.asks.Tasks) == 0 {
		return nil
	}
	return one(t, "question", d.asks.Tasks...)
}

func (d *desk) answer(t *rapid.T) {
	open := d.open(t)
	if open == nil {
		return
	}
	v := d.verb(t, "answer")
	a := Answer{End: one(t, "end", EndedDenied, EndedAllowed, EndedAnswered), By: "ada",
		AllowSelf: one(t, "allowSelf", false, true), Shown: open.Shown("ask").Hash()}
	first := d.askers[open.Ask.Askers[0].Participant].at
	own := one(t, "own", false, false, true)
	if own {
		a.Operation, a.Queue, a.Task = first.Operation, first.Queue, first.Task
		a.Processes = append(a.Processes, first.Process, first.Waiter)
	}
	v.id, v.end = open.ID, a.End
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Answer(open.ID, a, seen) }
	if !d.edit(t, v, Question{}) {
		return
	}

	e, ok := d.asks.EndedTask(open.ID)
	own = own && (first.Operation != "" || first.Task != "" || first.Process.Known() ||
		first.Waiter.Known())
	if !ok || e.End != a.End || e.Decision == nil || e.Decision.Self != own || own && !a.AllowSelf {
		t.Fatalf("answered with %v, own: %v, and it is %+v, %+v", a, own, e, e.Decision)
	}
	if _, err := d.asks.Answer(open.ID, a, d.seenFrom(v.at)); err != nil {
		t.Fatalf("the same answer again: %v", err)
	}
	a.Text += "!"
	if _, err := d.asks.Answer(open.ID, a, d.seenFrom(v.at)); err == nil {
		t.Fatalf("%s is answered twice", open.ID)
	}
}

func (d *desk) withdraw(t *rapid.T) {
	open := d.open(t)
	if open == nil {
		return
	}
	v := d.verb(t, "withdraw")
	a := d.askers[one(t, "asker", open.Ask.Askers...).Participant].at
	v.id, v.end, v.asker = open.ID, EndedWithdrawn, a.Participant
	v.do = func(q Queue, seen Seen) (Queue, error) { return q.Withdraw(open.ID, a, seen) }
	if !d.edit(t, v, Question{}) {
		return
	}
	if left := d.asks.Task(open.ID); left != nil && slices.ContainsFunc(left.Ask.Askers,
		func(b Asker) bool { return b.Participant == a.Participant }) {
		t.Fatalf("%s still asks:\n%s", a.Participant, d.asks.Encode())
	}
}

func (d *desk) cancelQuestion(t *rapid.T) {
	open := d.open(t)
	if open == nil || one(t, "cancel", 0, 0, 1) == 0 {
		return
	}
	v := d.verb(t, "cancel")
	v.id, v.end, v.asker = open.ID, EndedWithdrawn, "*"
	v.do = func(q Queue, seen Seen) (Queue, error) {
		return q.Cancel([]string{open.ID}, "ada", "", seen)
	}
	if d.edit(t, v, Question{}) && d.asks.Task(open.ID) != nil {
		t.Fatalf("%s is open:\n%s", open.ID, d.asks.Encode())
	}
}

func (d *desk) tickAsks(t *rapid.T) {
	v := d.verb(t, "pass")
	v.do = Queue.Pass
	d.edit(t, v, Question{})
}
