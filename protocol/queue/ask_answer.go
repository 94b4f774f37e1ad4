package queue

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
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
	AllowSelf bool              // it may be one of those who asked
	Signature Signature         // of the question that was asked then
}

// Answer returns q with the question id decided (spec §47.2). The first answer is the one that
// counts. The errors are ErrNoTask; ErrDecided, or ErrOver for one that nobody has decided in time;
// ErrNotQuestion for a task; ErrOtherKind for an answer that does not fit; ErrRenewed if the
// question was asked again since it was signed; and ErrOwn if who answers is part of what has
// asked.
func (q Queue) Answer(id string, a Answer, seen Seen) (Queue, error) {
	e, err := q.begin("answer", seen)
	if err != nil {
		return q, err
	}

	e.pass()
	i := e.q.index(id)
	if i < 0 {
		return q, e.q.answered(id, e.seen)
	}

	t := e.q.Tasks[i]
	switch {
	case t.Ask == nil:
		return q, ErrNotQuestion
	case t.Ask.Kind.misfits(a.End):
		return q, fmt.Errorf("%w: it asks for a %s", ErrOtherKind, t.Ask.Kind.wants())
	}

	if s := a.Signature; s != (Signature{}) && !s.AskedAt.Equal(t.EnqueuedAt) {
		return q, ErrRenewed
	}
	own := slices.ContainsFunc(t.Ask.Askers, a.by)
	if own && !a.AllowSelf {
		return q, ErrOwn
	}
	e.decide(i, a.End, Decision{By: a.By, User: a.User, Answer: a.Text, Self: own,
		Signature: a.Signature})
	return e.end()
}

// by reports whether a is given by a part of what has asked.
func (a Answer) by(asker Asker) bool {
	if a.Operation != "" && a.Operation == asker.Operation ||
		a.Task != "" && a.Task == asker.Task && a.Queue == asker.Queue {
		return true
	}
	return slices.ContainsFunc(a.Processes, func(p observe.Process) bool {
		return p.Known() && (p.Is(asker.process()) || p.Is(asker.waiter()))
	})
}

// answered returns why there is no open question id to answer.
func (q Queue) answered(id string, seen Seen) error {
	end := TaskEnd("")
	by := ""
	if ended, ok := q.EndedTask(id); ok {
		end, by = ended.End, ended.Decision.Decider()
	} else if seen.Past != nil {
		end, _, _ = seen.Past(id)
	}

	switch {
	case end.Decided():
		return fmt.Errorf("%w: %s%s", ErrDecided, end, by)
	case end == EndedTimedOut || end == EndedWithdrawn:
		return fmt.Errorf("%w: %s", ErrOver, end)
	}
	return ErrNoTask
}

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
