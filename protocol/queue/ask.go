package queue

import (
	"fmt"
	"slices"
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
	Kind     AskKind
	Text     string  // the question, cut to mostAskText bytes with a mark of how much is missing
	Nonce    string  // 32 hex digits: no other question has these
	By, User string  // participant and user of the first asker, also when it is gone
	Scope    string  // within which the key of the task is known
	Signed   bool    // only a signed yes counts
	Askers   []Asker // at least one
	Unknown  []wire.Member
}

// mostAskText is the length of the longest text of a question that its entry repeats, in bytes.
const mostAskText = 200

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
	Origin          Origin          // where the question really comes from, whatever the rest says
	Unknown         []wire.Member

	nested *wire.Nested
}

// An Origin is what the process that asks has found about itself: which process has started it, and
// what its environment says. The members of an Asker are said by flags.
type Origin struct {
	Process     observe.Process
	Operation   string
	Queue, Task string
	Participant string

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
	Self      bool   // it was answered by one of those who asked
	Unchecked bool   // nobody could tell whether it was
	Shown     string // the hash of what the person was shown (Shown.Hash); "": it was no person
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
	ID      string // q and 10 characters of a-z and 2-7, drawn at random
	Nonce   string // 32 hex digits, drawn at random
	Kind    AskKind
	Signed  bool    // only a signed yes counts
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
	// Discounted is the id of a question of this key whose yes does not count. It is asked again.
	// "": none.
	Discounted string
}

// TaskScope returns the scope of keys in an attempt at the task t of a queue: all its attempts have
// it (spec §47.1).
func TaskScope(queueID string, t *Task) string {
	return fmt.Sprintf("task %s/%s %d", queueID, t.ID, t.Seq)
}

// CheckScope returns the scope of the questions whether attempts at the task t of a queue are done: one
// that nobody asks in within an attempt, where the worker could have its own question answered before it
// is made (spec §47.1).
func CheckScope(queueID string, t *Task) string {
	return fmt.Sprintf("check %s/%s %d", queueID, t.ID, t.Seq)
}

// RunScope returns the scope of keys in a run of an operation.
func RunScope(runID string) string { return "run " + runID }

// ProcessScope returns the scope of keys of a process.
func ProcessScope(p observe.Process) string {
	return fmt.Sprintf("process %s %s %d %d", p.HostID, p.BootID, p.PID, p.StartTicks)
}

// IsAskQueue reports whether id is a queue of questions.
func IsAskQueue(id string) bool { return id == "ask" || strings.HasPrefix(id, "ask.") }

// Ask returns q with the question asked, and its id (spec §47.1). One with a key joins the open
// question of that key and scope, or finds how it was decided; q is then unchanged. The errors are
// ErrNotAsk for a queue of tasks, ErrTakenID, ErrKnownTask if the key was used for another
// question, ErrClosed and ErrFull.
func (q Queue) Ask(ask Question, seen Seen) (Queue, string, error) {
	if !IsAskQueue(q.ID) {
		return q, "", ErrNotAsk
	}

	e := q.beginAnyway("ask", seen)
	e.revive()
	e.pass()

	if ask.Key != "" {
		known, err := e.join(ask)
		if err != nil {
			return q, "", err
		}
		if known != "" {
			e.obey(e.q.index(known), ask)
			after, err := e.end()
			return after, known, err
		}
	}

	if _, taken := e.endOf(ask.ID); taken || e.q.index(ask.ID) >= 0 {
		return q, "", ErrTakenID
	}
	if err := e.mayAsk(ask.Asker); err != nil {
		return q, "", err
	}
	e.open(ask)
	after, err := e.end()
	return after, ask.ID, err
}

// join adds the asker to the open question of a key, and returns the id of that, or of one that was
// decided, or "". One that nobody has decided is asked again.
func (e *edit) join(ask Question) (known string, err error) {
	i := -1
	for j, t := range e.q.Tasks {
		if t.Ask != nil && t.Key == ask.Key && t.Ask.Scope == ask.Scope {
			i = j // of several, the later one counts
		}
	}
	if i < 0 {
		ended, ok := e.endOfKey(IDOf(ask.Scope + "\n" + ask.Key))
		if ok && (ended.Spec != ask.Spec.Hash() || ask.Kind.misfits(ended.End)) {
			return "", ErrKnownTask // so whoever has read a question answers that one
		}
		if !ok || !ended.End.Decided() || ended.ID == ask.Discounted {
			return "", nil
		}
		return ended.ID, nil
	}

	t := e.q.Tasks[i]
	if t.SpecHash() != ask.Spec.Hash() || t.Ask.Kind != ask.Kind {
		return "", ErrKnownTask
	}
	asked := *t.Ask
	asked.Signed = asked.Signed || ask.Signed
	joined := slices.ContainsFunc(asked.Askers, ask.Asker.same)
	if !joined {
		asked.Askers = append(slices.Clip(asked.Askers), e.asker(ask.Asker))
	}
	if !joined || asked.Signed != t.Ask.Signed {
		e.own(i).Ask = &asked
	}
	return t.ID, nil
}

// endOfKey returns the question with a keyId that has ended last, if it is remembered.
func (e *edit) endOfKey(keyID string) (Ended, bool) {
	for _, ended := range slices.Backward(e.q.Ended) {
		if ended.KeyID == keyID {
			return ended, true
		}
	}
	if e.seen.PastKey == nil {
		return Ended{}, false
	}
	return e.seen.PastKey(keyID)
}

// asker returns a as of now.
func (e *edit) asker(a Asker) Asker {
	a.At, a.Beat = e.seen.Now, e.seen.Beat()
	a.Process, a.Waiter = a.process(), a.waiter()
	a.Origin.Process = observe.Identity(a.Origin.Process.PID, a.Origin.Process)
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

// open adds the question, and ends it if a rule has decided it.
func (e *edit) open(ask Question) {
	scope := ask.Scope
	if ask.Key == "" {
		scope = ""
	}
	e.q.LastSeq++
	e.q.Tasks = append(e.tasks(), &Task{
		ID: ask.ID, Seq: e.q.LastSeq, State: Open, Spec: ask.Spec.stored(), Key: ask.Key,
		EnqueuedAt: e.seen.Now,
		Ask: &Ask{Kind: ask.Kind, Text: cut(ask.Text, mostAskText), Nonce: ask.Nonce,
			By: ask.Asker.Participant, User: ask.Asker.User, Scope: scope, Signed: ask.Signed,
			Askers: []Asker{e.asker(ask.Asker)}},
		expiry: timerMember{Timer: startTimer(ask.Expires, e.seen.Observation)},
	})
	e.q.Counters.Enqueued++
	e.changed = true

	if ask.Ruled == nil && !ask.Spec.Inline() {
		e.q.effects.Specs = append(e.q.effects.Specs, NewSpec{ask.ID, ask.Spec})
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

// cut returns text if it has at most n bytes, and otherwise those of its first n bytes that are whole
// characters, and how many are missing.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	begin := strings.ToValidUTF8(text[:n], "")
	return fmt.Sprintf("%s … %d more bytes", begin, len(text)-len(begin))
}

// decide ends the open question i.
func (e *edit) decide(i int, end TaskEnd, d Decision) {
	t := e.q.Tasks[i]
	d.Kind, d.Text = t.Ask.Kind, t.Ask.Text
	d.AskedBy, d.Operation = t.Ask.By, t.Ask.Askers[0].Operation
	e.finish(i, end)
	ended := &e.q.Ended[len(e.q.Ended)-1]
	ended.Decision = &d
	if t.Key != "" {
		ended.KeyID = IDOf(t.Ask.Scope + "\n" + t.Key)
	}
}
