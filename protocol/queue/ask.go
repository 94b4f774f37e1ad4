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

// misfits reports whether a question of kind k cannot end so.
func (k AskKind) misfits(end TaskEnd) bool {
	return k == AskPermission && end == EndedAnswered || k == AskQuestion && end == EndedAllowed
}

// wants says what a question of kind k asks for.
func (k AskKind) wants() string {
	if k == AskPermission {
		return "permission"
	}
	return "text"
}

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

// An Asker is somebody who waits for the answer to a question. One of a Process, Waiter, Call or
// Task tells when it no longer does.
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
		a.process().Is(b.process()) && a.waiter().Is(b.waiter())
}

// near reports whether a and b ask on behalf of the same work: a task that is blocked on their
// questions, or else an operation or process.
func (a Asker) near(b Asker) bool {
	if a.Task != "" || b.Task != "" {
		return a.Task == b.Task && a.Queue == b.Queue
	}
	return a.Operation != "" && a.Operation == b.Operation ||
		a.process().Known() && a.process().Is(b.process())
}

// process returns the identity of the process that asks, or the zero Process.
func (a Asker) process() observe.Process { return observe.Identity(a.PID, a.Process) }

// waiter returns the identity of the process that waits on behalf of a, or the zero Process.
func (a Asker) waiter() observe.Process { return observe.Identity(a.Waiter.PID, a.Waiter) }

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
	Signature Signature
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
	// Ruled is the rule that has decided a permission already, as RuledEnd: Allowed or Denied. Nil:
	// none has.
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

	e := q.beginAnyway("ask", seen)
	e.revive()
	e.pass()

	id := "ask-" + strconv.FormatInt(e.q.LastSeq+1, 10)
	if ask.Key != "" {
		id = IDOf(ask.Scope + "\n" + ask.Key)
		known, err := e.join(id, ask)
		if err != nil {
			return q, "", err
		}
		if known {
			e.obey(e.q.index(id), ask)
			after, err := e.end()
			return after, id, err
		}
	} else if e.q.index(id) >= 0 { // somebody has written it there
		return q, "", ErrKnownTask
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
		if ok && (spec != ask.Spec.Hash() || ask.Kind.misfits(end)) {
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
	a.Process, a.Waiter = a.process(), a.waiter()
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

	if ask.Ruled == nil && !ask.Spec.Inline() {
		e.q.effects.Specs = append(e.q.effects.Specs, NewSpec{id, ask.Spec})
	}
	e.obey(len(e.q.Tasks)-1, ask)
}

// obey ends the question i as a rule says, if one says anything and the question is open: i is not
// below 0.
func (e *edit) obey(i int, ask Question) {
	if ask.Ruled != nil && i >= 0 {
		e.decide(i, ask.RuledEnd, Decision{Rule: *ask.Ruled, Answer: ask.Reason})
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
