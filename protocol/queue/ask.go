package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An AskKind says what kind of answer a question wants (spec §46).
type AskKind string

const (
	AskPermission AskKind = "permission" // to be allowed or denied
	AskQuestion   AskKind = "question"   // to be answered with a text
)

// Valid reports whether k is one of the two.
func (k AskKind) Valid() bool { return k == AskPermission || k == AskQuestion }

// An Ask is what an open task has in place of a claim: who asks, and what (spec §46.2). Tasks share
// asks, so one is replaced and never changed.
type Ask struct {
	Kind    AskKind
	Text    string  // the question, cut to MostAskText bytes
	Askers  []Asker // at least one
	Unknown []wire.Member
}

// MostAskText is the length of the longest text of a question that its entry repeats, in bytes.
const MostAskText = 200

// mostAsked is how many open questions one operation or process may have, so that one that asks all
// the time does not keep others from asking.
const mostAsked = 16

// An Asker is somebody who waits for the answer to a question. One of a Process, Waiter, Call or Task
// tells when it no longer does.
type Asker struct {
	At              time.Time
	Beat            observe.Beat
	Participant     string
	User            string // of the operating system
	PID             int
	Process         observe.Process // who asks; zero: not known
	Waiter          observe.Process // who waits on its behalf; zero: it comes back for the answer
	Operation, Call string          // the call that asks; "": none
	Queue, Task     string          // the task that is blocked on the question; "": none
	Epoch           int64           // of the attempt at Task that has asked
	Unknown         []wire.Member

	nested *wire.Nested
}

// same reports whether a and b are the same asker.
func (a Asker) same(b Asker) bool {
	return a.Participant == b.Participant && a.Operation == b.Operation && a.Call == b.Call &&
		a.Queue == b.Queue && a.Task == b.Task && a.Epoch == b.Epoch && a.PID == b.PID &&
		a.Process.Is(b.Process) && a.Waiter.Is(b.Waiter)
}

// near reports whether a and b ask on behalf of the same work. Of those that are blocked on their
// questions each is a task of its own.
func (a Asker) near(b Asker) bool {
	process := observe.Identity(a.PID, a.Process)
	return a.Task == "" && b.Task == "" && (a.Operation != "" && a.Operation == b.Operation ||
		process.Known() && process.Is(observe.Identity(b.PID, b.Process)))
}

// A Decision is how a question has ended, and what is left of the question (spec §46.3).
type Decision struct {
	Kind      AskKind
	Text      string
	AskedBy   string // participant
	Operation string
	By, User  string // who has decided; "": nobody, or a rule
	Answer    string // the text of an answer, or the reason of a denial
	Rule      Rule
	Self      bool // it was answered by one of those who asked
	Unknown   []wire.Member

	nested *wire.Nested
}

// A Rule names the rule that has decided a question: its number in a file, from 1. The zero Rule is
// none.
type Rule struct {
	File   string
	Hash   string // of the file
	Number int64
}

// A Question is what somebody asks.
type Question struct {
	Kind    AskKind
	Scope   string  // within which Key is known
	Key     string  // "": it is a new question
	Spec    Content // with the text, input and choices
	Text    string
	Asker   Asker
	Expires time.Duration
	// Ruled is how a rule has decided it already; its end is Allowed or Denied. Nil: nobody has.
	Ruled    *Rule
	RuledEnd TaskEnd
	Reason   string // of the rule
}

// IsAskQueue reports whether id is a queue of questions.
func IsAskQueue(id string) bool { return id == "ask" || strings.HasPrefix(id, "ask.") }

// Ask returns q with the question asked, and its id (spec §47.1). One with a key joins the open
// question of that key and scope, or finds how it was decided; q is then unchanged. The errors are
// ErrNotAsk for a queue of tasks, ErrKnownTask if the key was used for another question, ErrClosed
// and ErrFull.
func (q Queue) Ask(ask Question, seen Seen) (Queue, string, error) {
	if !IsAskQueue(q.ID) {
		return q, "", ErrNotAsk
	}

	e := q.beginAnyway(seen)
	e.revive()
	e.tick()

	id := "ask-" + strconv.FormatInt(e.q.LastSeq+1, 10)
	if ask.Key != "" {
		id = IDOf(ask.Scope + "\n" + ask.Key)
		known, err := e.join(id, ask)
		if err != nil {
			return q, "", err
		}
		if known {
			after, err := e.end()
			return after, id, err
		}
	}

	if err := e.mayAsk(ask.Asker); err != nil {
		return q, "", err
	}
	e.open(id, ask)
	after, err := e.end()
	return after, id, err
}

// join adds the asker to the open question id, and reports whether there is one, or it was decided.
// One that nobody has decided is asked again.
func (e *edit) join(id string, ask Question) (known bool, err error) {
	i := e.q.index(id)
	if i < 0 {
		end, spec, ok := e.endOf(id)
		if ok && spec != ask.Spec.Hash() {
			return false, ErrKnownTask // so whoever has read a question answers that one
		}
		return ok && end.Decided(), nil
	}

	t := e.q.Tasks[i]
	switch {
	case t.SpecHash() != ask.Spec.Hash() || t.Ask == nil || t.Ask.Kind != ask.Kind:
		return false, ErrKnownTask
	case slices.ContainsFunc(t.Ask.Askers, ask.Asker.same):
		return true, nil
	}

	asked := *t.Ask
	asked.Askers = append(slices.Clip(asked.Askers), e.asker(ask.Asker))
	e.own(i).Ask = &asked
	return true, nil
}

// asker returns a as of now.
func (e *edit) asker(a Asker) Asker {
	a.At, a.Beat = e.seen.Now, e.seen.Beat()
	a.Process = observe.Identity(a.PID, a.Process)
	a.Waiter = observe.Identity(a.Waiter.PID, a.Waiter)
	return a
}

// mayAsk returns an error if a may not ask anything now.
func (e *edit) mayAsk(a Asker) error {
	asked := 0
	for _, t := range e.q.Tasks {
		if t.Ask != nil && slices.ContainsFunc(t.Ask.Askers, a.near) {
			asked++
		}
	}

	switch most := e.q.Policy.Depth; {
	case e.q.Closed:
		return ErrClosed
	case asked >= mostAsked:
		return fmt.Errorf("%w: who asks has %d open questions", ErrFull, asked)
	case most > 0 && int64(len(e.q.Tasks)) >= most:
		return fmt.Errorf("%w: it has %d questions", ErrFull, most)
	}
	return nil
}

// open adds the question id, and ends it if a rule has decided it.
func (e *edit) open(id string, ask Question) {
	e.q.LastSeq++
	e.q.Tasks = append(e.tasks(), &Task{
		ID: id, Seq: e.q.LastSeq, State: Open, Spec: ask.Spec.stored(), Key: ask.Key,
		EnqueuedAt: e.seen.Now,
		Ask: &Ask{Kind: ask.Kind, Text: cut(ask.Text, MostAskText),
			Askers: []Asker{e.asker(ask.Asker)}},
		expiry: timerMember{Timer: startTimer(ask.Expires, e.seen.Observation)},
	})
	e.q.Counters.Enqueued++
	e.changed = true

	if ask.Ruled != nil {
		e.decide(len(e.q.Tasks)-1, ask.RuledEnd, Decision{Rule: *ask.Ruled, Answer: ask.Reason})
	} else if !ask.Spec.Inline() {
		e.q.effects.Specs = append(e.q.effects.Specs, NewSpec{id, ask.Spec})
	}
}

// cut returns at most n bytes of text, in whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// decide ends the open question i.
func (e *edit) decide(i int, end TaskEnd, d Decision) {
	asked := e.q.Tasks[i].Ask
	d.Kind, d.Text = asked.Kind, asked.Text
	d.AskedBy, d.Operation = asked.Askers[0].Participant, asked.Askers[0].Operation
	e.finish(i, end)
	e.q.Ended[len(e.q.Ended)-1].Decision = &d
}

// An Answer is what somebody says to a question.
type Answer struct {
	End       TaskEnd // Allowed, Denied or Answered
	Text      string
	By, User  string
	Operation string            // in whose environment it is given; "": none
	Processes []observe.Process // the one that answers, and those it descends from
	AllowSelf bool              // it may be one of those who asked
}

// Answer returns q with the question id decided (spec §47.2). The first answer is the one that counts.
// The errors are ErrNoTask; ErrDecided, or ErrOver for one that nobody has decided in time;
// ErrNotQuestion for a task; ErrOtherKind for an answer that does not fit; and ErrOwn if who answers is
// part of what has asked.
func (q Queue) Answer(id string, a Answer, seen Seen) (Queue, error) {
	e, err := q.begin(seen)
	if err != nil {
		return q, err
	}

	e.tick()
	i := e.q.index(id)
	if i < 0 {
		return q, e.q.answered(id, e.seen)
	}

	t := e.q.Tasks[i]
	switch {
	case t.Ask == nil:
		return q, ErrNotQuestion
	case t.Ask.Kind == AskPermission && a.End == EndedAnswered:
		return q, fmt.Errorf("%w: it asks for a permission", ErrOtherKind)
	case t.Ask.Kind == AskQuestion && a.End == EndedAllowed:
		return q, fmt.Errorf("%w: it asks for a text", ErrOtherKind)
	}

	own := slices.ContainsFunc(t.Ask.Askers, a.by)
	if own && !a.AllowSelf {
		return q, ErrOwn
	}
	e.decide(i, a.End, Decision{By: a.By, User: a.User, Answer: a.Text, Self: own})
	return e.end()
}

// by reports whether a is given by a part of what has asked.
func (a Answer) by(asker Asker) bool {
	if a.Operation != "" && a.Operation == asker.Operation {
		return true
	}
	return slices.ContainsFunc(a.Processes, func(p observe.Process) bool {
		asks := observe.Identity(asker.PID, asker.Process)
		return p.Known() && (p.Is(asks) || p.Is(asker.Waiter))
	})
}

// answered returns why there is no open question id to answer.
func (q Queue) answered(id string, seen Seen) error {
	end := TaskEnd("")
	by := ""
	if ended, ok := q.EndedTask(id); ok {
		end = ended.End
		if d := ended.Decision; d != nil {
			by = d.by()
		}
	} else if seen.Past != nil {
		end, _, _ = seen.Past(id)
	}

	switch {
	case end == "":
		return ErrNoTask
	case end.Decided():
		return fmt.Errorf("%w: %s%s", ErrDecided, end, by)
	}
	return fmt.Errorf("%w: %s", ErrOver, end)
}

// by returns " by" and who has decided, if that is known.
func (d *Decision) by() string {
	switch {
	case d.By != "":
		return " by " + d.By
	case d.Rule.Number > 0:
		return fmt.Sprintf(" by rule %d of %s", d.Rule.Number, d.Rule.File)
	}
	return ""
}

// Withdraw returns q without the asker of the question id; the question ends if that was the last one.
// It returns q unchanged if there is nobody to withdraw.
func (q Queue) Withdraw(id string, a Asker, seen Seen) (Queue, error) {
	e, err := q.begin(seen)
	if err != nil {
		return q, err
	}

	e.tick()
	if i := e.q.index(id); i >= 0 && e.q.Tasks[i].Ask != nil {
		e.keepAskers(i, func(other Asker) bool { return !a.same(other) })
	}
	return e.end()
}

// keepAskers removes the askers of the open question i for whom keep is false, and withdraws it if none
// is left.
func (e *edit) keepAskers(i int, keep func(Asker) bool) {
	t := e.q.Tasks[i]
	var left []Asker
	for _, a := range t.Ask.Askers {
		if keep(a) {
			left = append(left, a)
		}
	}

	switch {
	case len(left) == len(t.Ask.Askers):
	case len(left) == 0:
		e.decide(i, EndedWithdrawn, Decision{})
	default:
		asked := *t.Ask
		asked.Askers = left
		e.own(i).Ask = &asked
	}
}
