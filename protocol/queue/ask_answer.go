package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Answer is what somebody says to a question.
type Answer struct {
	End       TaskEnd // Allowed, Denied or Answered
	Text      string
	By, User  string
	Operation string // in whose environment it is given; "": none
	Queue     string // of the Task in whose attempt it is given; "": none
	Task      string
	Processes []observe.Process // the one that answers, and those it descends from
	Whole     bool              // these are all, up to the first one of the pid namespace; the boot is certain
	AllowSelf bool              // it may be one of those who asked
	Shown     string            // the hash of the question that was shown (Shown.Hash)
	SignedAt  time.Time         // when Signature was made
	Signature string            // of SignedText; "": none
}

// Answer returns q with the question id decided (spec §47.2). The first answer is the one that
// counts; q is unchanged if it is the same. The errors are ErrNoTask; ErrDecided, or ErrOver for
// one that nobody has decided in time; ErrNotQuestion for a task; ErrOtherKind for an answer that
// does not fit; ErrChanged if another question was shown; ErrUnsigned; ErrOwn if who answers is
// part of what has asked, and ErrUnchecked if that cannot be told.
func (q Queue) Answer(id string, a Answer, seen Seen) (Queue, error) {
	e, err := q.begin("answer", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	i := e.q.index(id)
	if i < 0 {
		if err := e.answered(id, a); err != nil {
			return q, err
		}
		return e.end()
	}

	t := e.q.Tasks[i]
	switch {
	case t.Ask == nil:
		return q, ErrNotQuestion
	case a.Shown != t.Shown(q.ID).Hash():
		return q, ErrChanged
	case t.Ask.Kind.misfits(a.End):
		return q, fmt.Errorf("%w: it asks for a %s", ErrOtherKind, t.Ask.Kind.wants())
	case t.Ask.Signed && a.Signature == "" && a.End.Yes():
		return q, ErrUnsigned
	}

	own := slices.ContainsFunc(t.Ask.Askers, a.by)
	unchecked := !own && slices.ContainsFunc(t.Ask.Askers, func(asker Asker) bool { return !a.checks(asker, seen) })
	switch {
	case own && !a.AllowSelf:
		return q, ErrOwn
	case unchecked && !a.AllowSelf:
		return q, ErrUnchecked
	}
	d := Decision{By: a.By, User: a.User, Answer: a.Text, Self: own, Unchecked: unchecked, Shown: a.Shown}
	if a.Signature != "" {
		d.Signature = Signature{At: wire.Moment(a.SignedAt), Text: a.Signature, Nonce: t.Ask.Nonce,
			AskedAt: t.EnqueuedAt, User: t.Ask.User, Scope: t.Ask.Scope, Key: t.Key}
	}
	e.decide(i, a.End, d)
	return e.end()
}

// by reports whether a is given by a part of what has asked, as far as can be told.
func (a Answer) by(asker Asker) bool {
	from := asker.Origin
	if a.By != "" && (a.By == asker.Participant || a.By == from.Participant) ||
		a.Operation != "" && (a.Operation == asker.Operation || a.Operation == from.Operation) ||
		a.Task != "" && (a.Task == asker.Task && a.Queue == asker.Queue ||
			a.Task == from.Task && a.Queue == from.Queue) {
		return true
	}
	return slices.ContainsFunc(a.Processes, func(p observe.Process) bool {
		return p.Known() && slices.ContainsFunc(asker.processes(), func(q observe.Process) bool {
			q.HostID = p.HostID // which who answers can change, by another name of the host
			return p.Is(q)
		})
	})
}

// processes returns the identities of the processes that ask as a.
func (a Asker) processes() (all []observe.Process) {
	for _, p := range []observe.Process{a.process(), a.waiter(), a.Origin.Process} {
		if p.Known() {
			all = append(all, p)
		}
	}
	return all
}

// checks reports whether who gives a can tell that no process of the asker is above it: that was of
// another boot; or this sees the pid namespace of that one, and all that is above itself.
func (a Answer) checks(asker Asker, seen Seen) bool {
	here := seen.Host
	return !slices.ContainsFunc(asker.processes(), func(p observe.Process) bool {
		otherBoot := a.Whole && here.BootID != "" && p.BootID != here.BootID
		sees := a.Whole && (here.PIDNamespace == observe.FirstPIDNamespace ||
			here.PIDNamespace != "" && here.PIDNamespace == p.PIDNamespace)
		return !otherBoot && !sees
	})
}

// answered returns why there is no open question id to be answered with a, or nil if that is what
// somebody has answered.
func (e *edit) answered(id string, a Answer) error {
	ended, _ := e.endOf(id)
	switch d := ended.Decision; {
	case !ended.End.Decided():
	case d != nil && ended.End == a.End && d.Answer == a.Text && d.Rule.Number == 0 &&
		(a.Shown == "" || a.Shown == d.Shown) && (a.Signature == "" || d.Signature.Text != ""):
		return nil
	default:
		return fmt.Errorf("%w: %s%s", ErrDecided, ended.End, d.Decider())
	}
	if ended.End == EndedTimedOut || ended.End == EndedWithdrawn {
		return fmt.Errorf("%w: %s", ErrOver, ended.End)
	}
	return ErrNoTask
}

// Take returns q after an edit that changes nothing but its revision, with which who has asked
// takes a yes (spec §47.6): so the record has a line for it, whatever becomes of the file. The
// errors are ErrNoTask if the question has not ended as yes says; ErrUnrecorded if nobody has
// answered so; and those of seen.Recorded.
func (q Queue) Take(yes Ended, seen Seen) (Queue, error) {
	e, err := q.begin("taken", seen)
	if err != nil {
		return q, err
	}

	ended, _ := q.endOf(yes.ID, seen)
	if ended.line() != yes.line() {
		return q, ErrNoTask
	}
	if recorded, err := seen.Recorded(q.Audit, ended.Answers); err != nil {
		return q, err
	} else if !recorded {
		return q, ErrUnrecorded
	}
	e.changed = true
	return e.end()
}

// Answers reports whether the line l of a record is that of the answer with which e has ended.
func (e Ended) Answers(l audit.Line) bool {
	return (l.Verb == "answer" || l.Verb == "ask") && slices.ContainsFunc(l.Patch,
		func(c audit.Change) bool { return c.Path == "ended/-" && c.After == e.line() })
}

// line returns e as the record has it.
func (e Ended) line() string { return wire.Line(wire.Record(e.record)) }

// Decider returns " by" and who has decided, or "" if nobody has or d is nil.
func (d *Decision) Decider() string {
	switch {
	case d == nil:
		return ""
	case d.By != "":
		return " by " + d.By
	case d.Rule.Number > 0:
		return fmt.Sprintf(" by rule %d of %s", d.Rule.Number, d.Rule.File)
	}
	return ""
}

// Withdraw returns q without the asker of the question id; the question ends if that was the last
// one. It returns q unchanged if there is nobody to withdraw.
func (q Queue) Withdraw(id string, a Asker, seen Seen) (Queue, error) {
	e, err := q.begin("withdraw", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	if i := e.q.index(id); i >= 0 && e.q.Tasks[i].Ask != nil {
		e.keepAskers(i, func(other Asker) bool { return !a.same(other) })
	}
	return e.end()
}

// keepAskers removes the askers of the open question i for whom keep is false, and withdraws it if
// none is left.
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
