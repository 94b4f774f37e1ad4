package queues

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/queue"
)

// The rules of questions, and of tasks that wait for an answer (spec §46, §47).

// left reports whether the task b of before is not there any more.
func (p *pair) left(b *queue.Task) bool { return p.after.Task(b.ID) == nil }

// question checks that b stays a question, or none.
func (p *pair) question(b, a *queue.Task) {
	if (a.State == queue.Open) != (a.Ask != nil) || (b.Ask == nil) != (a.Ask == nil) ||
		a.Ask != nil && (len(a.Ask.Askers) == 0 || a.Ask.Kind != b.Ask.Kind) {
		p.fault("%s is %s, and asks %v", a.ID, a.State, a.Ask)
	}
}

// parked reports whether b is blocked on a question.
func parked(b *queue.Task) bool {
	return b.State == queue.Blocked && strings.HasPrefix(b.Question, "ask") &&
		strings.Contains(b.Question, "/")
}

// answered reports whether what became of b is what an answer does: it goes on, or a person has
// rejected it, or nobody has said what its check could not tell.
func (p *pair) answered(b, a *queue.Task, claimed bool) bool {
	if !parked(b) || a.State == queue.Blocked && (a.Question != "" || b.Last.End != queue.Uncertain) {
		return false
	}

	tries := a.Tries
	if claimed {
		tries--
	}
	if b.Last.End != queue.Uncertain {
		return a.Question == b.Question && a.Charged == b.Charged && a.Last == b.Last &&
			(tries == b.Tries || tries == max(0, b.Tries-1))
	}
	if a.State == queue.Blocked {
		return a.Charged == b.Charged && a.Last == b.Last
	}
	return a.Last.End == queue.Rejected && a.Last.Epoch == b.Last.Epoch && a.Charged == b.Charged+1
}

// saidDone reports whether e is b, of which a person has said that it is done.
func (p *pair) saidDone(b *queue.Task, e queue.Ended) bool {
	return parked(b) && b.Last.End == queue.Uncertain && e.End == queue.EndedDone &&
		e.Last.End == queue.Done && e.Last.Epoch == b.Last.Epoch && e.Spec == b.SpecHash()
}

// endedBefore reports whether a, which is new, has ended before.
func (p *pair) endedBefore(a *queue.Task) bool {
	_, ended := p.before.EndedTask(a.ID)
	return ended
}

// ruled reports whether e is a question that was asked and decided by one edit.
func (p *pair) ruled(e queue.Ended) bool {
	b := p.before.Task(e.ID)
	return e.Decision != nil && e.Decision.Rule.Number > 0 && (b == nil || b.Ask == nil)
}

// endOfQuestion checks that e is how the question b can end.
func (p *pair) endOfQuestion(b *queue.Task, e queue.Ended) {
	d := e.Decision
	if b.Ask == nil || d == nil || d.Kind != b.Ask.Kind || e.Spec != b.SpecHash() ||
		!e.End.Decided() && e.End != queue.EndedTimedOut && e.End != queue.EndedWithdrawn ||
		(d.Rule.Number > 0 || d.By == "") && e.End == queue.EndedAnswered {
		p.fault("%s, which asks %v, is %s: %+v", e.ID, b.Ask, e.End, d)
	}
}
